"""Follow-up questions, completed for retrieval with what the last turns were about.

«А если он низкий?» finds nothing alone; with the topic words of the user's own last turns before it («ферритин: а если
он низкий?») it does. Whether a question is a follow-up is decided by the question alone, so that no history can drag a
question that names its own topic back; what is carried are a few words, never a text. The assistant's turns are not
read: what stands in them may have come from a source that somebody else wrote.

Only retrieval sees the completed text. Gates, rules and the answer see the question as it was asked.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from engine.retrieval.follow_up_signs import Reason, follow_up_reason
from engine.retrieval.follow_up_words import CIRCUMSTANCE, TOPIC, Word, plain, read, words
from engine.wire import Turn

MAX_TURNS = 4
"""The user's last turns that are looked at."""
MAX_SCANNED = 600
"""Characters of a turn that are looked at."""
MAX_CARRIED = 6
"""Most words that are carried."""
MAX_WORD = 40
"""Longer words are no topic that somebody asks for."""


@dataclass(frozen=True)
class Completion:
    """A question for retrieval, and why it is so."""

    text: str
    reason: Reason
    carried: tuple[str, ...] = ()

    @property
    def completed(self) -> bool:
        """Whether words of earlier turns stand before the question."""
        return bool(self.carried)

    def summary(self) -> dict[str, str | int]:
        """For the trace: the reason and a number, no word of the user's."""
        return {"follow_up": self.reason, "carried": len(self.carried)}


def looked_at(history: Sequence[Turn]) -> list[str]:
    """The beginnings of the user's turns that may complete a question, the oldest first."""
    return [turn.text[: MAX_SCANNED + MAX_WORD] for turn in history if turn.role == "user"][-MAX_TURNS:]


def complete(question: str, history: Sequence[Turn], named: Collection[str] | None = None) -> Completion:
    """The question with the topic of the last turns where it has none of its own, else as it is.

    `named`: stems of the words by which the question and these turns name topics of the corpus; where it is not known,
    every unknown word may be a topic. Deterministic, and idempotent over the same history.
    """
    said = read(plain(question), named)
    reason = follow_up_reason(said, plain(question))
    if reason in ("own_topic", "nothing_asked"):
        return Completion(question, reason)
    carried = _carried(said, _subject(looked_at(history), named))
    if not carried:
        return Completion(question, "nothing_to_carry")
    return Completion(f"{' '.join(carried)}: {question}", reason, carried)


def _subject(earlier: Sequence[str], named: Collection[str] | None) -> tuple[Word, ...]:
    """What the user's last turns are about, in the order in which it was said.

    The last turn that names a topic; turns after it are follow-ups and may add words of their own.
    """
    data = words()
    added: list[Word] = []
    for turn in reversed(earlier):
        text = plain(turn)
        # A word that is cut in two is none.
        said = [word for word in read(text[: MAX_SCANNED + MAX_WORD], named) if word.end <= MAX_SCANNED]
        usable = [word for word in said if len(word.surface) <= MAX_WORD]
        names = [word for word in usable if word.kind == TOPIC]
        if follow_up_reason(said, text) == "own_topic":
            soft = [word for word in usable if word.kind == CIRCUMSTANCE]
            beside = [word for word in usable if word.kind in data.carried]
            if names or soft:
                return _limited([names, soft, added, beside], last=added)
        else:
            added = [*names, *added]
    return _limited([added])


def _limited(groups: Sequence[Sequence[Word]], *, last: Sequence[Word] = ()) -> tuple[Word, ...]:
    """At most `MAX_CARRIED` different words, the first groups' first.

    They stand as they were said, those of `last`, which later turns added, after the others.
    """
    kept: dict[str, Word] = {}
    for group in groups:
        for word in group:
            if len(kept) < MAX_CARRIED:
                kept.setdefault(word.key, word)
    return tuple(sorted(kept.values(), key=lambda word: (word in last, word.start)))


def _carried(said: Sequence[Word], subject: Sequence[Word]) -> tuple[str, ...]:
    """Words of the subject that the question does not say itself, of generic ones only the kinds that it lacks."""
    data = words()
    present = {word.key for word in said}
    kinds = {word.kind for word in said}
    # A question that asks for something of its own is not to be answered with what was asked before.
    asks_own = bool(kinds & {TOPIC, "aspect"})
    named = any(word.kind == TOPIC for word in subject)
    carried = []
    for word in subject:
        if word.kind in data.carried and (word.kind in kinds or (word.kind == "aspect" and asks_own)):
            continue
        if word.kind == CIRCUMSTANCE and named and kinds & {CIRCUMSTANCE, "people"}:
            continue
        if word.key not in present:
            carried.append(word)
    if all(word.kind in data.carried for word in carried):
        return ()
    return tuple(word.surface for word in carried)

"""Whether a question is a follow-up: its words alone decide, by signs whose lists stand in follow_up.yaml."""

from collections.abc import Sequence
from typing import Literal

from engine.retrieval.follow_up_words import (
    CIRCUMSTANCE,
    FUNCTION,
    NUMBER,
    TOPIC,
    Stems,
    Word,
    Words,
    low,
    words,
)

MAX_SAID_OF_SOMEBODY = 2
"""Words of its own up to which a question tells only whom it is about."""
MAX_SAID = 60
"""A question of more words is no follow-up."""
MAX_OWN = 4
"""A question with more words of its own speaks for itself, whatever pronouns it has."""
LONG = 14
"""Words from which two of its own are enough for that."""
SHORT = 3
"""Words up to which a permission is asked in passing: «сыр можно?»."""

Reason = Literal[
    "own_topic",  # the question names what it is about, or is too long for a follow-up
    "nothing_asked",  # a greeting, or no word at all
    "nothing_to_carry",  # a follow-up, but the last turns name nothing that it does not
    "pronoun",  # completed: "how is it treated?"
    "fragment",  # completed: «а при беременности?»
    "circumstance",  # completed: «а кофе можно?»
    "generic",  # completed: "how long do I wait?"
]


def follow_up_reason(said: Sequence[Word], text: str) -> Reason:
    """Whether a question is a follow-up and by what; the history has no part in it."""
    data = words()
    start = _opening(said, data)
    rest = said[start:]
    own = [word for word in rest if word.kind == TOPIC]
    soft = [word for word in rest if word.kind == CIRCUMSTANCE]
    if not said or all(word.low in data.greetings for word in said):
        return "nothing_asked"
    if len(said) > MAX_SAID or len(own) > MAX_OWN or (len(said) > LONG and len(own) > 1):
        return "own_topic"
    asks = any(word.low in data.interrogatives for word in rest)
    if _refers_back(said, start, text, data):
        return "pronoun"
    if not asks and _is_fragment(rest, start > 0, data):
        return "fragment"
    if start > 0 and _is_about_somebody(rest, data):
        return "fragment"
    if own:
        in_passing = _helps(rest, start > 0, data) or (start > 0 and _only_permission(rest, data))
        one = len(own) == 1 and not asks and in_passing
        return "circumstance" if one else "own_topic"
    if soft:
        return "circumstance" if _only_circumstance(rest, soft, start > 0, asks, data) else "own_topic"
    if asks or start > 0 or any(word.kind != FUNCTION and word.low not in data.greetings for word in rest):
        return "generic"
    return "nothing_asked"


def _opening(said: Sequence[Word], data: Words) -> int:
    """How many words the openings at the beginning take: «ну а как насчёт»."""
    written = tuple(word.low for word in said)
    at = 0
    while phrase := next((each for each in data.openings if written[at : at + len(each)] == each), None):
        at += len(phrase)
    return at


def _refers_back(said: Sequence[Word], start: int, text: str, data: Words) -> bool:
    """Whether a pronoun stands for something that the question itself does not name before it."""
    dummies = [match.span() for match in data.expletives.finditer(low(text))]
    things = [at for at, word in enumerate(said) if word.kind in (TOPIC, CIRCUMSTANCE)]
    for at in range(start, len(said)):
        word = said[at]
        if word.low in data.anaphora:
            if things and any(begin <= word.start < end for begin, end in dummies):
                continue
        elif not (word.low in data.pointers and _points_back(said, start, at, text, data)):
            continue
        if not _named_before(said, start, at, text, data):
            return True
    signs = [match.start() for match in data.consequences.finditer(low(text))]
    after = [at for at, word in enumerate(said) if at >= start and word.start in signs]
    return any(not _named_before(said, start, at, text, data) for at in after)


def _points_back(said: Sequence[Word], start: int, at: int, text: str, data: Words) -> bool:
    """«Этот анализ», "is that normal": not «этот витамин», "this morning", "foods that lower triglycerides"."""
    if at + 1 == len(said):
        return True
    after = said[at + 1]
    if start == 0 and any(word.low in data.interrogatives for word in said[at + 1 : at + 3]):
        return False  # «у тех, у кого …», «до того, как …»
    if not text[said[at].end : after.start].isspace():
        return True  # «а до этого, пока …»
    if after.kind in (TOPIC, CIRCUMSTANCE, "time", "people"):
        return False
    if said[at].low == "that":
        # A conjunction or a relative pronoun rather, unless it follows what asks for a subject or an object.
        asking = data.auxiliaries | data.conditions | data.subjects | data.interrogatives
        return (
            at == start
            or said[at - 1].low in data.auxiliaries
            or (said[at - 1].low in asking and after.kind != FUNCTION)
        )
    return True


def _named_before(said: Sequence[Word], start: int, at: int, text: str, data: Words) -> bool:
    """Whether a topic stands in a clause before the pronoun, or right before it («гипертония это опасно?»)."""
    conditional = start > 0 or said[start].low in ("if", "когда", "если", "when")
    kinds = {TOPIC} if conditional else {TOPIC, CIRCUMSTANCE}
    if said[at].low in data.persons and any(word.kind == TOPIC for word in said[start:]):
        kinds.add("people")
    named = [word for word in said[start:at] if word.kind in kinds]
    if not named:
        return False
    nearest = [word for word in said if named[-1].end <= word.start < said[at].start]
    if said[at].low.startswith("это") and all(word.kind in (NUMBER, "level", "time", "quantity") for word in nearest):
        return True
    if any(word.low in data.conjunctions for word in nearest):
        return True
    between = [word for word in said if named[0].end <= word.start < said[at].start]
    if any(word.low in data.interrogatives | data.auxiliaries for word in between):
        return True
    return any(not char.isspace() for char in _outside(text, named[0].end, said[at].start, between))


def _outside(text: str, start: int, end: int, inside: Sequence[Word]) -> str:
    """What stands between two places of the text beside words: spaces and punctuation."""
    parts, at = [], start
    for word in inside:
        parts.append(text[at : word.start])
        at = word.end
    return "".join([*parts, text[at:end]])


def _is_fragment(rest: Sequence[Word], opened: bool, data: Words) -> bool:
    """A phrase that a preposition begins and that says nothing else: «при диабете?», "for women?"."""
    people = next((at for at, word in enumerate(rest) if word.kind not in ("people", "time")), len(rest))
    if opened and people < len(rest) and rest[people].low in data.conditions:
        rest = rest[people:]  # «а людям с гипертонией?»
    if not rest or rest[0].low not in data.conditions | data.subjects:
        return False
    own = [word for word in rest if word.kind == TOPIC]
    if rest[0].low in data.subjects:
        return not own and any(word.kind != FUNCTION for word in rest)
    phrase: list[Word] = []
    for word in rest[1:]:
        if word.kind == FUNCTION and phrase:
            break
        if word.kind != FUNCTION:
            phrase.append(word)
    inside = sum(word.kind == TOPIC for word in phrase)
    return bool(phrase) and inside == len(own) <= (2 if opened else 1)


def _only_circumstance(rest: Sequence[Word], soft: Sequence[Word], opened: bool, asks: bool, data: Words) -> bool:
    """Whether a circumstance alone leaves open of what: «помогает ли спорт?», not «вреден ли кофе?»."""

    def holds(stems: Stems) -> bool:
        return any(word.token in stems for word in rest)

    if holds(data.occasions) or (len(soft) == 1 and holds(data.relations)):
        return True
    if asks:
        return False
    return opened or holds(data.omissions) or (len(rest) <= SHORT and _only_permission(rest, data))


def _is_about_somebody(rest: Sequence[Word], data: Words) -> bool:
    """ "What about someone who runs marathons?": whom, and of what is not said."""
    own = sum(word.kind == TOPIC for word in rest)
    return len(rest) > 1 and rest[0].kind == "people" and rest[1].low in data.relatives and own <= MAX_SAID_OF_SOMEBODY


def _helps(rest: Sequence[Word], opened: bool, data: Words) -> bool:
    """«Мелатонин поможет?»: against what is not said."""
    if not (opened or any(word.low in data.futures for word in rest)):
        return False
    prepositions = data.conditions | data.subjects
    others = [word for word in rest if word.kind not in (TOPIC, FUNCTION) and word.token not in data.helps]
    helps = any(word.token in data.helps for word in rest)
    return helps and not others and not any(word.low in prepositions for word in rest)


def _only_permission(rest: Sequence[Word], data: Words) -> bool:
    """«А бананы можно?»: one thing and the question whether it may be."""
    things = (TOPIC, CIRCUMSTANCE, FUNCTION)
    others = [word for word in rest if word.kind not in things and word.low not in data.permissions]
    return not others and any(word.low in data.permissions for word in rest)

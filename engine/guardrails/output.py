"""The guard of an answer: rules over the joined text, before anything of it is shown.

What the rules are stands in `rules/output_*.yaml`. Categories: diagnosis, dose, dangerous_advice, prompt_leak; one
enforced hit blocks the whole answer. Shadow rules are reported and have no consequence.
"""

from dataclasses import dataclass
from typing import Literal

from engine.guardrails.classifier import told
from engine.guardrails.gate import Found, Gate, unique
from engine.text.sentences import split_sentences

Status = Literal["ok", "blocked", "guard_error"]


@dataclass(frozen=True)
class GuardVerdict:
    """What the rules say of an answer; ids and categories are unique, in the order of their first hit."""

    status: Status
    rule_ids: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    shadow_rule_ids: tuple[str, ...] = ()


CLASSIFIER = "output.classifier"
"""The id that stands in the place of a rule's where the classifier said it."""


class OutputGuard(Gate):
    """Checks answers. Safe for threads; a failure is `guard_error`, never `ok`.

    Rules see wording. What only the meaning tells is the judge's; a classifier that reads the answer sentence by
    sentence stands in for one that is not configured, or that fails.
    """

    files = "output*.yaml"

    def check(self, text: str) -> GuardVerdict:
        """The verdict on a whole answer; an answer in one language may carry a sentence of the other."""
        try:
            found = self._found(text)
            meant = [] if found.enforced else self._by_meaning(text, found)
        except Exception:  # whatever went wrong, an unchecked answer is not shown
            return GuardVerdict("guard_error")
        return GuardVerdict(
            status="blocked" if found.enforced or meant else "ok",
            rule_ids=unique([*(hit.rule_id for hit in found.enforced), *(CLASSIFIER for _ in meant)]),
            categories=unique([*(hit.category for hit in found.enforced), *(category for _, category in meant)]),
            spans=tuple(dict.fromkeys([*((hit.start, hit.end) for hit in found.enforced), *(at for at, _ in meant)])),
            shadow_rule_ids=found.shadow,
        )

    def _by_meaning(self, text: str, found: Found) -> list[tuple[tuple[int, int], str]]:
        """Sentences that the classifier would not show, with their category."""
        if self._reader is None:
            return []
        spans = [span for span in split_sentences(text) if any(char.isalpha() for char in text[span[0] : span[1]])]
        if not spans:
            return []
        hits = [any(hit.start < end and start < hit.end for hit in found.evidence) for start, end in spans]
        read = self._reader.read([text[start:end] for start, end in spans], hits)
        threshold = self._reader.threshold
        return [
            (span, kind or "")
            for span, (chance, kind), hit in zip(spans, read, hits, strict=True)
            if told(chance, rule_hit=hit) >= threshold
        ]

"""The urgent gate: it looks at a message before anything else does."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from engine.guardrails.classifier import Reader
from engine.guardrails.gate import Found, Gate
from engine.guardrails.rules import RuleSet
from engine.models.base import ModelError

log = logging.getLogger(__name__)

KINDS = (
    "cardiac",
    "stroke",
    "breathing",
    "anaphylaxis",
    "bleeding",
    "seizure",
    "unconscious",
    "suicide",
    "overdose",
    "head_injury",
    "meningitis",
    "obstetric",
    "infant_fever",
    "hypoglycaemia",
    "abdominal",
    "vision",
    "burns",
    "carbon_monoxide",
    "violence",
    "hypertensive_crisis",
)
OTHER = "other"
"""What the classifier took for an emergency of none of these kinds."""
CRISIS = "suicide"
"""Its text names the crisis line, so it goes before every other kind; of the others the first one said counts."""


@dataclass(frozen=True)
class UrgentVerdict:
    """Whether a message may be about an emergency, which kind, and the rule that said so.

    `shadow` names the rules in shadow mode that would have said so too.
    """

    urgent: bool
    kind: str | None = None
    rule_id: str | None = None
    shadow: tuple[str, ...] = ()


CLASSIFIER = "urgent.classifier"
"""The id that stands in the place of a rule's where the classifier said it."""


class UrgentGate(Gate):
    """Escalates what may be an emergency; docs/safety-policy.md says what passes.

    Rules first: one that is enforced escalates by itself. A classifier only adds to that: it reads what no rule took
    for certain, and rules in the mode `evidence` weigh in. Without it, or where it fails, these rules escalate too.
    """

    files = "urgent_*.yaml"

    def __init__(self, rules: RuleSet | None = None, reader: Reader | None = None) -> None:
        super().__init__(rules)
        self._reader = reader

    def check(self, text: str) -> UrgentVerdict:
        """The verdict on one message; raises `RuleError` where the caller must fail closed."""
        found = self._found(text)
        if found.enforced:
            return _by_rule(found)
        read = self._read(text, found)
        if read is None:
            return _by_rule(found) if found.evidence else UrgentVerdict(False, shadow=found.shadow)
        probability, kind = read
        if probability < self._threshold:
            return UrgentVerdict(False, shadow=found.shadow)
        named = [hit.category for hit in found.evidence if kind != CRISIS]
        return UrgentVerdict(True, named[0] if named else kind if kind in KINDS else OTHER, CLASSIFIER, found.shadow)

    @property
    def _threshold(self) -> float:
        return self._reader.threshold if self._reader else 1.0

    def _read(self, text: str, found: Found) -> tuple[float, str | None] | None:
        """What the classifier says; None where there is none, or nothing to read, or it failed."""
        if self._reader is None or not text.strip():
            return None
        try:
            return self._reader.read([text], [bool(found.evidence)])[0]
        except ValueError:  # nothing is left of the text once it is cleaned
            return None
        except ModelError as error:
            log.warning("The urgent gate goes by its rules alone: %s", error)
            return None


def _by_rule(found: Found) -> UrgentVerdict:
    first = min(found.evidence, key=lambda hit: hit.category != CRISIS)
    return UrgentVerdict(True, first.category, first.rule_id, found.shadow)

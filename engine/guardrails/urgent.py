"""The urgent gate: it looks at a message before anything else does."""

from __future__ import annotations

from dataclasses import dataclass

from engine.guardrails.gate import Found, Gate

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

    def check(self, text: str) -> UrgentVerdict:
        """The verdict on one message; raises `RuleError` where the caller must fail closed."""
        found = self._found(text)
        if found.enforced:
            return _by_rule(found)
        read = self._read(text, found.evidence)
        if read is None:
            return _by_rule(found) if found.evidence else UrgentVerdict(False, shadow=found.shadow)
        if not read.counts:
            return UrgentVerdict(False, shadow=found.shadow)
        said = [hit.category for hit in found.evidence]
        if CRISIS in (*said, read.kind):
            kind = CRISIS
        else:
            kind = said[0] if said else read.kind if read.kind in KINDS else OTHER
        return UrgentVerdict(True, kind, CLASSIFIER, found.shadow)


def _by_rule(found: Found) -> UrgentVerdict:
    first = min(found.evidence, key=lambda hit: hit.category != CRISIS)
    return UrgentVerdict(True, first.category, first.rule_id, found.shadow)

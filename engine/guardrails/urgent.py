"""The urgent gate: it looks at a message before anything else does."""

from __future__ import annotations

from dataclasses import dataclass

from engine.guardrails.gate import Gate

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


class UrgentGate(Gate):
    """Escalates what may be an emergency; docs/safety-policy.md says what passes. Pure."""

    files = "urgent_*.yaml"

    def check(self, text: str) -> UrgentVerdict:
        """The verdict on one message; raises `RuleError` where the caller must fail closed."""
        found = self._found(text)
        if not found.enforced:
            return UrgentVerdict(False, shadow=found.shadow)
        first = min(found.enforced, key=lambda hit: hit.category != CRISIS)
        return UrgentVerdict(True, first.category, first.rule_id, found.shadow)

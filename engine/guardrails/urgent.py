"""The urgent gate: it looks at a message before anything else does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from engine.guardrails.rules import RuleSet, load_rules

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


@dataclass(frozen=True)
class UrgentVerdict:
    """Whether a message may be about an emergency, which kind, and the rule that said so.

    `shadow` names the rules in shadow mode that would have said so too.
    """

    urgent: bool
    kind: str | None = None
    rule_id: str | None = None
    shadow: tuple[str, ...] = ()


class UrgentGate:
    """Escalates what may be an emergency; docs/safety-policy.md says what passes. Pure."""

    def __init__(self, rules: RuleSet | None = None) -> None:
        self._rules = _shipped() if rules is None else rules

    def check(self, text: str) -> UrgentVerdict:
        """The verdict on one message; raises `RuleError` where the caller must fail closed."""
        hits = self._rules.match(text)
        shadow = tuple(dict.fromkeys(hit.rule_id for hit in hits if not hit.enforced))
        for hit in hits:
            if hit.enforced:
                return UrgentVerdict(True, hit.category, hit.rule_id, shadow)
        return UrgentVerdict(False, shadow=shadow)


@lru_cache(maxsize=1)
def _shipped() -> RuleSet:
    return load_rules("urgent_*.yaml")

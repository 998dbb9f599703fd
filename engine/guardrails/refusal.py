"""The refusal gate: requests that are not served, whoever asks and however politely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from engine.guardrails.rules import RuleSet, load_rules

# Where several apply, the gravest one is reported.
CATEGORIES = ("harm", "dose", "prescription", "diagnosis")


@dataclass(frozen=True)
class RefusalVerdict:
    """Whether a request is refused, as what, and the rule that said so; `shadow` as in `UrgentVerdict`."""

    refused: bool
    category: str | None = None
    rule_id: str | None = None
    shadow: tuple[str, ...] = ()


class RefusalGate:
    """Refuses doses, prescriptions, personal diagnoses and help to do harm. Pure."""

    def __init__(self, rules: RuleSet | None = None) -> None:
        self._rules = _shipped() if rules is None else rules

    def check(self, text: str) -> RefusalVerdict:
        """The verdict on one message; raises `RuleError` where the caller must fail closed."""
        hits = self._rules.match(text)
        shadow = tuple(dict.fromkeys(hit.rule_id for hit in hits if not hit.enforced))
        enforced = [hit for hit in hits if hit.enforced]
        if not enforced:
            return RefusalVerdict(False, shadow=shadow)
        gravest = min(enforced, key=lambda hit: (CATEGORIES.index(hit.category), hit.start))
        return RefusalVerdict(True, gravest.category, gravest.rule_id, shadow)


@lru_cache(maxsize=1)
def _shipped() -> RuleSet:
    return load_rules("refusal*.yaml")

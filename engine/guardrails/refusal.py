"""The refusal gate: requests that are not served, whoever asks and however politely."""

from __future__ import annotations

from dataclasses import dataclass

from engine.guardrails.gate import Gate

# Where several apply, the gravest one is reported.
CATEGORIES = ("harm", "dose", "prescription", "diagnosis")


@dataclass(frozen=True)
class RefusalVerdict:
    """Whether a request is refused, as what, and the rule that said so; `shadow` as in `UrgentVerdict`."""

    refused: bool
    category: str | None = None
    rule_id: str | None = None
    shadow: tuple[str, ...] = ()


CLASSIFIER = "refusal.classifier"
"""The id that stands in the place of a rule's where the classifier said it."""


class RefusalGate(Gate):
    """Refuses doses, prescriptions, personal diagnoses and help to do harm.

    Rules first; a classifier adds what is asked for in other words. Where it fails the rules are left.
    """

    files = "refusal*.yaml"

    def check(self, text: str) -> RefusalVerdict:
        """The verdict on one message; raises `RuleError` where the caller must fail closed."""
        found = self._found(text)
        if found.enforced:
            gravest = min(found.enforced, key=lambda hit: CATEGORIES.index(hit.category))
            return RefusalVerdict(True, gravest.category, gravest.rule_id, found.shadow)
        read = self._read(text, found.evidence)
        if read is None or not read.counts:
            return RefusalVerdict(False, shadow=found.shadow)
        return RefusalVerdict(True, read.kind, CLASSIFIER, found.shadow)

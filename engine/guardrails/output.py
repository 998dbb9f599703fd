"""The guard of an answer: rules over the joined text, before anything of it is shown.

What the rules are stands in `rules/output_*.yaml`. Categories: diagnosis, dose, dangerous_advice, prompt_leak; one
enforced hit blocks the whole answer. Shadow rules are reported and have no consequence.
"""

from dataclasses import dataclass
from typing import Literal

from engine.guardrails.gate import Gate, unique

Status = Literal["ok", "blocked", "guard_error"]


@dataclass(frozen=True)
class GuardVerdict:
    """What the rules say of an answer; ids and categories are unique, in the order of their first hit."""

    status: Status
    rule_ids: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    shadow_rule_ids: tuple[str, ...] = ()


class OutputGuard(Gate):
    """Checks answers. Pure and safe for threads; a failure of matching is `guard_error`, never `ok`."""

    files = "output*.yaml"

    def check(self, text: str) -> GuardVerdict:
        """The verdict on a whole answer; an answer in one language may carry a sentence of the other."""
        try:
            found = self._found(text)
        except Exception:  # whatever went wrong in matching, an unchecked answer is not shown
            return GuardVerdict("guard_error")
        return GuardVerdict(
            status="blocked" if found.enforced else "ok",
            rule_ids=unique(hit.rule_id for hit in found.enforced),
            categories=unique(hit.category for hit in found.enforced),
            spans=tuple(dict.fromkeys((hit.start, hit.end) for hit in found.enforced)),
            shadow_rule_ids=found.shadow,
        )

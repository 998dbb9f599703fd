"""The guard of an answer: rules over the joined text, before anything of it is shown.

What the rules are stands in `rules/output_*.yaml`. Categories: diagnosis, dose, dangerous_advice, prompt_leak; one
enforced hit blocks the whole answer. Shadow rules are reported and have no consequence.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from engine.guardrails.rules import RuleSet, load_rules

Status = Literal["ok", "blocked", "guard_error"]


@dataclass(frozen=True)
class GuardVerdict:
    """What the rules say of an answer; ids and categories are unique, in the order of their first hit."""

    status: Status
    rule_ids: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    shadow_rule_ids: tuple[str, ...] = ()


class OutputGuard:
    """Checks answers. Pure and safe for threads; a failure of matching is `guard_error`, never `ok`."""

    def __init__(self, rules: RuleSet | None = None) -> None:
        self._rules = _output_rules() if rules is None else rules

    def check(self, text: str, lang: str | None = None) -> GuardVerdict:
        """The verdict on a whole answer.

        `lang` is taken for the caller's convenience and changes nothing: every rule reads every text, for an
        answer in one language may carry a sentence of the other.
        """
        try:
            hits = self._rules.match(text)
        except Exception:  # whatever went wrong in matching, an unchecked answer is not shown
            return GuardVerdict("guard_error")
        enforced = [hit for hit in hits if hit.enforced]
        return GuardVerdict(
            status="blocked" if enforced else "ok",
            rule_ids=tuple(dict.fromkeys(hit.rule_id for hit in enforced)),
            categories=tuple(dict.fromkeys(hit.category for hit in enforced)),
            spans=tuple(dict.fromkeys((hit.start, hit.end) for hit in enforced)),
            shadow_rule_ids=tuple(dict.fromkeys(hit.rule_id for hit in hits if not hit.enforced)),
        )


@lru_cache(maxsize=1)
def _output_rules() -> RuleSet:
    return load_rules("output*.yaml")

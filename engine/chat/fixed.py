"""Fixed texts by language: data in `texts/*.yaml`, read once, complete in both languages or refused at start."""

from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from engine.settings import Region
from engine.wire import Outcome
from engine.wire.fields import Lang

_TEXTS = Path(__file__).with_name("texts")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Emergency(_Strict):
    """Whom to call, by region; `by_language` where no region is set."""

    by_language: str
    ru: str
    us: str
    eu: str

    def line(self, region: Region | None) -> str:
        return self.by_language if region is None else str(getattr(self, region))


class Refusals(_Strict):
    dose: str
    prescription: str
    diagnosis: str
    harm: str


class OwnValue(_Strict):
    """How an answer names the user's own value."""

    sentence: str
    above: str
    below: str
    inside: str
    no_range: str
    between: str
    from_low: str
    up_to_high: str


class Fixed(_Strict):
    """All fixed texts of one language."""

    escalation: str
    emergency: Emergency
    crisis: Emergency
    refusals: Refusals
    abstention: str
    withheld: str
    withheld_sources: str
    guard_error: str
    ungrounded: str
    disclaimer: str
    own_value: OwnValue

    def escalate(self, kind: str | None, region: Region | None) -> str:
        """The escalation text: always the same for a kind and a region."""
        lines = [self.escalation, self.emergency.line(region)]
        if kind == "suicide":
            lines.append(self.crisis.line(region))
        return " ".join(lines)

    def withhold(self, outcome: Outcome) -> str:
        """The neutral sentence in place of an answer that is not shown."""
        return {"ungrounded": self.ungrounded, "guard_error": self.guard_error}.get(outcome, self.withheld)

    def refuse(self, category: str | None) -> str:
        """The refusal of a category; of an unknown one, the plain refusal."""
        return str(getattr(self.refusals, category or "harm", self.refusals.harm))


@lru_cache
def fixed(lang: Lang) -> Fixed:
    """The texts of a language. Raises pydantic.ValidationError where one is missing."""
    return Fixed.model_validate(yaml.safe_load((_TEXTS / f"{lang}.yaml").read_text(encoding="utf-8")))

"""What the gates over rules have in common: rules that are loaded once, and hits parted by what they lead to."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from engine.guardrails.classifier import Reader, told
from engine.guardrails.parts import parts
from engine.guardrails.rules import Hit, RuleSet, load_rules
from engine.text.normalise import clean

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Found:
    """The hits that alone have consequences, in text order, and the ids of the shadow rules that hit too."""

    enforced: tuple[Hit, ...]
    shadow: tuple[str, ...]
    evidence: tuple[Hit, ...] = ()
    """The enforced ones, and those that only count beside a classifier, in text order."""


@dataclass(frozen=True)
class Judged:
    """What a classifier made of a message: whether it counts, and as what."""

    counts: bool
    kind: str | None


class Gate:
    """A layer of rules; `files` names those of the shipped one."""

    files: ClassVar[str]

    def __init__(self, rules: RuleSet | None = None, reader: Reader | None = None) -> None:
        self._rules = shipped(self.files) if rules is None else rules
        self._reader = reader

    def evidence(self, text: str) -> bool:
        """Whether a rule hits that a classifier beside the rules would be told of. Raises `RuleError`."""
        return bool(self._found(text).evidence)

    def enforced(self, text: str) -> bool:
        """Whether a rule hits that has consequences by itself. Raises `RuleError`."""
        return bool(self._found(text).enforced)

    def _read(self, text: str, evidence: Sequence[Hit]) -> Judged | None:
        """What the classifier says of the most telling part of a message; None where there is none, or nothing to read,
        or it failed."""
        if self._reader is None or not any(char.isalpha() for char in clean(text)):
            return None
        spans = [span for span in parts(text) if clean(text[slice(*span)]).strip()]
        hits = [any(hit.start < end and start < hit.end for hit in evidence) for start, end in spans]
        try:
            read = self._reader.read([text[start:end] for start, end in spans], hits)
        except Exception as error:  # whatever went wrong in a model, the rules still hold
            log.error("%s goes by its rules alone (%s).", type(self).__name__, type(error).__name__)
            return None
        heard = [told(chance, rule_hit=hit) for (chance, _), hit in zip(read, hits, strict=True)]
        most = max(range(len(heard)), key=heard.__getitem__)
        return Judged(heard[most] >= self._reader.threshold, read[most][1])

    def _found(self, text: str) -> Found:
        """Raises `RuleError`."""
        return part(self._rules.match(text))


def part(hits: Iterable[Hit]) -> Found:
    """Hits by their consequence; a shadow rule is named once, in the order of its first hit."""
    known = list(hits)
    return Found(
        tuple(hit for hit in known if hit.enforced),
        unique(hit.rule_id for hit in known if not hit.counts),
        tuple(hit for hit in known if hit.counts),
    )


def unique(words: Iterable[str]) -> tuple[str, ...]:
    """Each word once, in the order of its first appearance."""
    return tuple(dict.fromkeys(words))


@lru_cache(maxsize=8)
def shipped(files: str) -> RuleSet:
    """The rules of the project whose file name fits, read once a process."""
    return load_rules(files)

r"""Rules as data: one matching engine for the urgent, refusal, output and injection layers.

A rule file is `engine/guardrails/rules/<name>.yaml`; what `_*.yaml` declare serves every file::

    layer: output                    # urgent | refusal | output | injection
    defaults:                        # any key of a rule; `use` adds to every rule of the file
      severity: high                 # low | medium | high               (default high)
      mode: enforce                  # enforce | evidence (for the classifier) | shadow (reported alone) | off
      scope: sentence                # sentence | text                   (default sentence)
      since: "2026-01-01"
      use: [negation]                # named sets of exceptions
    words:                           # lists of plain words or patterns, used as {drug}
      drug: [aspirin, ibuprofen, "парацетамол{l}"]
    macros:                          # patterns, used as {amount}
      amount: "{n}{s}?(?:mg|мг)"
    sets:                            # named lists of exceptions
      quoted: [{pattern: "{w}label{s}says", where: before}]
    rules:
      - id: output.dose.take         # unique over all files loaded together
        category: dose
        languages: [en]              # for the record and for reports: every rule reads every text
        patterns:                    # any of them in a sentence is a match
          - "{w}take{gap:3}{amount}{w}"
          - {all: ["{w}swallow{l}", "{amount}"]}   # the first is the match, the others stand anywhere beside it
        exceptions:                  # a match is excused by any of them
          - "{w}not{s}take{w}"       # short for where: overlap
          - {pattern: "{w}asked{gap:3}{end}", where: before, unless: "{w}but{w}"}
          - {use: quoted}
        hits: ["Take 500 mg"]        # tests: must hit this rule, must not hit it
        passes: ["Do not take 500 mg"]

Patterns run on *folded* text (`engine.text.folding`): lower case, ё → е, quotes are ' or ", every dash is -,
spaces are single, look-alike letters and pulled-apart words are put right. So: no capitals, no «ё».
A long pattern may be broken over lines of a YAML block (|-): breaks and the indent behind them are left out.

Macros that are always there (`\b \w \d \s`, `.*`, bare `^` and `$` are refused):
  {w} a word border (takes the border character in; the reported span leaves it out), {s} space or line break,
  {l} any letters (the ending of a stem), {d} a digit, {n} a number, {gap:N} from the end of one word to the
  start of another with up to N words between («take{gap:2}mg»; two {w} in a row want two characters: write
  {s} or {gap:0} between words), {start} and {end} of the sentence (in an exception: of the place searched).

`where` says what an exception must have to do with the match:
  overlap   it shares characters with the match (the default; state the context in the exception itself)
  before    it stands before the match in the same clause;  after  the same, behind it
  lead      before the match in the same sentence;           trail  the same, behind it
  clause    anywhere in the match's clause;                  sentence  anywhere in the sentence
`unless` is looked for in the same place, `unless_anywhere` in the whole sentence: either takes the excuse away
again. Clauses end at , ; : ( ) " - " and at words like "but", «но», «а» (`clauses.py`). Every match is tried:
an excused one never hides the next.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.guardrails.loading import Layer, Mode, Rule, RuleFileError, Severity, load_files
from engine.guardrails.matching import Matcher, Sentence
from engine.guardrails.patterns import encode
from engine.text.folding import Folded, fold
from engine.text.sentences import split_sentences

__all__ = ["RULES", "Hit", "Rule", "RuleError", "RuleFileError", "RuleSet", "load_rules"]

RULES = Path(__file__).parent / "rules"


class RuleError(RuntimeError):
    """Matching failed: the caller must fail closed. The message names a rule, never the text."""


@dataclass(frozen=True)
class Hit:
    """A match that nothing excused; `start` and `end` are positions in the original text."""

    rule_id: str
    category: str
    layer: Layer
    severity: Severity
    mode: Mode
    start: int
    end: int

    @property
    def enforced(self) -> bool:
        """Whether the hit alone has consequences."""
        return self.mode == "enforce"

    @property
    def counts(self) -> bool:
        """Whether a classifier beside the rules takes the hit as evidence; a shadow rule is only reported."""
        return self.mode in ("enforce", "evidence")


class RuleSet:
    """Compiled rules. Matching is pure, linear in the text and safe for threads."""

    def __init__(self, compiled: list[tuple[Rule, Matcher]]) -> None:
        self._compiled = tuple(compiled)
        self.rules: tuple[Rule, ...] = tuple(rule for rule, _ in compiled)

    def match(self, text: str) -> list[Hit]:
        """The hits of all rules that are not off: at most one for each rule and sentence, in text order."""
        rule_id = "-"
        try:
            folded = fold(text)
            data = encode(folded.text)
            sentences: list[Sentence] | None = None
            whole = Sentence(folded.text, 0)
            hits: list[Hit] = []
            for rule, matcher in self._compiled:
                rule_id = rule.id
                if rule.mode == "off" or not matcher.may_hit(data):
                    continue
                if sentences is None:
                    sentences = list(_sentences(folded))
                for sentence in sentences if rule.scope == "sentence" else (whole,):
                    if (span := matcher.find(sentence)) is not None:
                        hits.append(_hit(rule, folded, sentence.start + span[0], sentence.start + span[1]))
        except Exception as error:
            raise RuleError(f"rule {rule_id}: {type(error).__name__}") from error
        return sorted(hits, key=lambda hit: (hit.start, hit.end, hit.rule_id))


def load_rules(pattern: str = "*.yaml", directory: Path = RULES) -> RuleSet:
    """The rules of the files whose name fits, for example "urgent_*.yaml"; raises `RuleFileError`."""
    paths = sorted(path for path in directory.glob(pattern) if not path.name.startswith("_"))
    if not paths:
        raise RuleFileError(f"{directory}: no rule file like {pattern}")
    return RuleSet(load_files(paths, sorted(directory.glob("_*.yaml"))))


def _hit(rule: Rule, folded: Folded, start: int, end: int) -> Hit:
    at = folded.span(start, end)
    return Hit(rule.id, rule.category, rule.layer, rule.severity, rule.mode, at[0], at[1])


def _sentences(folded: Folded) -> Iterator[Sentence]:
    """The sentences in the folded text; a line that merely wraps is put together again."""
    pending: tuple[int, int] | None = None
    for start, end in split_sentences(folded.original, semicolons=True):
        at = bisect_left(folded.offsets, start), bisect_left(folded.offsets, end)
        if pending is not None and _wraps(folded, pending[1], at[0], start):
            pending = pending[0], at[1]
            continue
        if pending is not None:
            yield Sentence(folded.text[pending[0] : pending[1]], pending[0])
        pending = at
    if pending is not None:
        yield Sentence(folded.text[pending[0] : pending[1]], pending[0])


def _wraps(folded: Folded, end: int, start: int, original: int) -> bool:
    """One line break, nothing that ends a sentence before it, and small letters or a number behind it."""
    if folded.text[end:start] != "\n" or not folded.text[end - 1 : end].isalnum():
        return False
    first = folded.original[original]
    return first.islower() or (first.isdigit() and folded.text[start + 1 : start + 2] not in (".", ")"))

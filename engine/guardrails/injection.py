"""Injected instructions are cut out of every text that reaches a prompt; the rest stays byte for byte.

Rules (`rules/injection*.yaml`) find the sentences that attack. Around them this module decides how much goes:

- the sentence, less a clause before a colon, a dash, a bracket or a quotation mark that speaks to nobody;
- neighbours in the same paragraph that carry the attack on (category `follow`), and what is wedged in between;
- the whole inside of a comment (`<!-- -->`, `[//]: # ()`) in which an attack stands;
- encoded pieces (base64, hex, percent, entities, Unicode tags) whose plain text attacks, or next to "decode this".

A quotation that stands in a text about attacks (category `discussion`) stays. `RuleError` is for the caller: a text
that could not be checked must not reach a prompt.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from engine.guardrails.gate import part, shipped, unique
from engine.guardrails.hidden import Piece, decoded_pieces, tag_runs
from engine.guardrails.rules import Hit, RuleSet
from engine.text.sentences import split_sentences

REDACTED = "[REDACTED:injection]"

_CONTEXT = frozenset({"follow", "discussion"})
_NAMES = frozenset({"title", "filename", "document"})
_WORD_JOINT = re.compile(r"(?<=[^\W_])[_+](?=[^\W_])|%20")
_NAME_JOINT = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_BORDER = re.compile(r"[:;|]\s|\s[-–—|]\s|[(\[{«\"“„<>]|[,;]\s|\.\s")
_RIGHT_BORDER = re.compile(r"\s\|\s|\s-->|[)\]}»”]|\.[A-Za-z0-9]{2,4}$")
_SPEAKS = re.compile(
    r"\b(?:ai|llms?|gpt|chatgpt|claude|assistants?|chatbots?|bots?|models?|systems?|admin\w*|developers?"
    r"|instructions?|prompt\w*|rules?|attention|note|notice|important|urgent|warning|must|ignore|override"
    r"|users?|you are|new|command|role|mode|now|tasks?"
    r"|ии|ассистент\w*|бот\w*|нейросет\w*|модел\w*|систем\w*|админ\w*|разработчик\w*|инструкци\w*"
    r"|промп?т\w*|правил\w*|внимание|важно|срочно|примечание|команда|ты|тебе|твоя|твой|твои|отныне|теперь"
    r"|пользовател\w*|режим|указани\w*|сообщение|задани\w*|задач\w*)\b",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"«[^«»]*»|“[^“”]*”|„[^„“”]*[“”]|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)|`[^`\n]*`")
_MARKDOWN_COMMENT = re.compile(r"^\[(?://|comment)\]:[ \t]*(?:#|<>)[ \t]*[(\"']([^\n]*)[)\"'][ \t]*$", re.MULTILINE)
# A Markdown link or image, or an object of JSON, that holds the whole attack goes alone.
_CONSTRUCT = re.compile(
    r"!?\[[^\[\]\n]{0,300}\]\([^()\s]{0,1000}\)|\{[^{}]{0,400}(?:\{[^{}]{0,400}\}[^{}]{0,200}){0,3}\}"
)
_PARAGRAPH = "\n\n"
_BETWEEN = re.compile(r"[\s.,;:!?…*_#>\"'«»“”()\[\]-]*")

Span = tuple[int, int]


@dataclass(frozen=True)
class Sanitised:
    """A text without injected instructions, the number of cuts and the rules behind them in order of position.

    `shadow_rule_ids` names the rules in shadow mode that hit; they cut nothing.
    """

    text: str
    redactions: int
    rule_ids: tuple[str, ...]
    shadow_rule_ids: tuple[str, ...] = ()


def sanitise(text: str, channel: str = "chunk", rules: RuleSet | None = None) -> Sanitised:
    """Cut injected instructions. In names ("title", "document") joined_words-like-these are read as words."""
    found = _Search(text, channel, shipped("injection*.yaml") if rules is None else rules)
    spans = found.spans()
    out: list[str] = []
    done = 0
    for start, end in spans:
        out += text[done:start], REDACTED
        done = end
    return Sanitised("".join(out) + text[done:], len(spans), found.rule_ids if spans else (), unique(found.shadow))


class _Search:
    """What there is to cut in one text."""

    def __init__(self, text: str, channel: str, rules: RuleSet) -> None:
        self.text = text
        self._rules = rules
        self._units = split_sentences(text, semicolons=True)
        found = part(rules.match(_readable(text, channel)))
        hits = found.enforced
        self.shadow = list(found.shadow)
        self._quotes = [match.span() for match in _QUOTES.finditer(text)] if hits else []
        self._constructs = [match.span() for match in _CONSTRUCT.finditer(text)] if hits else []
        self._whole: list[tuple[Span, str]] = []
        self._attack: dict[int, list[Hit]] = {}
        self._follow: dict[int, list[Hit]] = {}
        self._discussed = {n for hit in hits if hit.category == "discussion" for n in self._of(hit.start, hit.end)}
        for hit in hits:
            if hit.category == "follow":
                for n in self._of(hit.start, hit.end):
                    self._follow.setdefault(n, []).append(hit)
            elif hit.category not in _CONTEXT and not self._is_construct(hit):
                for n in self._of(hit.start, hit.end):
                    if not self._is_quotation(hit, n):
                        self._attack.setdefault(n, []).append(hit)
        self.rule_ids: tuple[str, ...] = ()

    def spans(self) -> list[Span]:
        """The spans to cut, in order, apart from each other."""
        encoded = self._encoded()
        chosen = self._carried_on(set(self._attack))
        cuts = [self._cut(n) for n in sorted(chosen)]
        cuts += [span for span, _ in [*self._whole, *encoded]]
        if cuts:
            cuts += self._comments(cuts)
        ids = [hit.rule_id for n in sorted(chosen) for hit in self._attack.get(n, self._follow.get(n, []))]
        self.rule_ids = unique([*ids, *(rule for _, rule in [*self._whole, *encoded])])
        return _merged(self.text, cuts)

    def _of(self, start: int, end: int) -> list[int]:
        """The sentences that a span touches."""
        return [n for n, (a, b) in _overlapping(self._units, start, end)]

    def _is_construct(self, hit: Hit) -> bool:
        """Whether the hit stands inside a link or an object, which then goes as a whole and alone."""
        around = _around(self._constructs, hit)
        if around is not None:
            self._whole.append((around, hit.rule_id))
        return around is not None

    def _is_quotation(self, hit: Hit, unit: int) -> bool:
        """Whether the hit stands in quotation marks and the text around speaks about such things."""
        if not self._discussed.intersection(range(unit - 2, unit + 3)):
            return False
        return _around(self._quotes, hit) is not None

    def _carried_on(self, attack: set[int]) -> set[int]:
        """The attacking sentences with their neighbours that carry the attack on."""
        chosen = set(attack)
        for n in sorted(attack):
            for step in (1, -1):
                at = n + step
                while 0 <= at < len(self._units) and at not in chosen:
                    if not self._joined(min(at, at - step), max(at, at - step)):
                        break
                    if at in self._follow and at not in self._discussed:
                        chosen.add(at)
                    elif not (step == 1 and at + 1 in chosen and self._joined(at, at + 1)):
                        break
                    else:
                        chosen.add(at)
                    at += step
        return chosen

    def _joined(self, left: int, right: int) -> bool:
        """Whether two neighbouring sentences stand in one paragraph."""
        between = self.text[self._units[left][1] : self._units[right][0]]
        return between.count("\n") < 2

    def _cut(self, unit: int) -> Span:
        """What of a sentence goes: all but a harmless clause before the attack, and what closes a bracket."""
        start, end = self._units[unit]
        hits = self._attack.get(unit) or self._follow.get(unit, [])
        inside = [(max(hit.start, start), min(hit.end, end)) for hit in hits] or [(start, end)]
        first, last = min(a for a, _ in inside), max(b for _, b in inside)
        borders = list(_BORDER.finditer(self.text, start, first))
        border = borders[-1] if borders else None
        opened = ""
        if border is not None and not _SPEAKS.search(self.text, start, border.start()):
            start = border.end()
            opened = border.group().strip()
        closing = _RIGHT_BORDER.search(self.text, last, end)
        if closing is not None and (opened in ("(", "[", "{", "«", "“", "|") or closing.group()[0] in ".| "):
            end = closing.start()
        return start, max(end, last)

    def _comments(self, cuts: list[Span]) -> list[Span]:
        """The insides of the comments in which something is cut."""
        insides = [match.span(1) for match in _MARKDOWN_COMMENT.finditer(self.text)]
        at = self.text.find("<!--")
        while at >= 0:
            end = self.text.find("-->", at + 4)
            insides.append((at + 4, len(self.text) if end < 0 else end))
            at = -1 if end < 0 else self.text.find("<!--", end)
        out: list[Span] = []
        merged = _merged(self.text, cuts)
        for a, b in insides:
            if any(True for _ in _overlapping(merged, a, b)):
                inner = self.text[a:b]
                out.append((a + len(inner) - len(inner.lstrip()), b - len(inner) + len(inner.rstrip())))
        return out

    def _encoded(self) -> list[tuple[Span, str]]:
        """Encoded pieces that attack once decoded, and those that a decoding order stands next to."""
        out: list[tuple[Span, str]] = []
        orders = {n for n, hits in self._attack.items() if any(hit.category == "encoding" for hit in hits)}
        pieces = list(decoded_pieces(self.text))
        attacking = self._attacking(pieces)
        for number, (span, _) in enumerate(pieces):
            near = (m for n in self._of(*span) for m in (n - 1, n, n + 1))
            if number in attacking or orders.intersection(near):
                out.append((span, "injection.encoded"))
        tags = list(tag_runs(self.text))
        attacking = self._attacking(tags)
        for number, (span, plain) in enumerate(tags):
            if number in attacking or len(plain.split()) > 2:
                out.append((span, "injection.hidden_tags"))
        return out

    def _attacking(self, pieces: list[Piece]) -> set[int]:
        """Which pieces attack; all are matched at once, a paragraph each, so that many small ones cost no more."""
        if not pieces:
            return set()
        starts: list[int] = []
        at = 0
        for _, plain in pieces:
            starts.append(at)
            at += len(plain) + len(_PARAGRAPH)
        found = part(self._rules.match(_PARAGRAPH.join(plain for _, plain in pieces)))
        self.shadow += found.shadow
        return {bisect_right(starts, hit.start) - 1 for hit in found.enforced if hit.category not in _CONTEXT}


def _readable(text: str, channel: str) -> str:
    """The text as it is matched: same length, joined words apart."""
    text = _WORD_JOINT.sub(lambda match: " " * len(match.group()), text)
    return _NAME_JOINT.sub(" ", text) if channel in _NAMES else text


def _around(spans: list[Span], hit: Hit) -> Span | None:
    """The span of an ordered list without overlaps that the hit stands in."""
    at = bisect_right(spans, hit.start, key=lambda span: span[0]) - 1
    return spans[at] if at >= 0 and hit.end <= spans[at][1] else None


def _overlapping(units: list[Span], start: int, end: int) -> Iterable[tuple[int, Span]]:
    """The sentences that share a character with a span, found by halving."""
    low, high = 0, len(units)
    while low < high:
        middle = (low + high) // 2
        if units[middle][1] <= start:
            low = middle + 1
        else:
            high = middle
    while low < len(units) and units[low][0] < max(end, start + 1):
        yield low, units[low]
        low += 1


def _merged(text: str, cuts: list[Span]) -> list[Span]:
    """Cuts that touch, overlap, or have only punctuation between them become one."""
    out: list[Span] = []
    for start, end in sorted(cuts):
        if start >= end:
            continue
        if out and (start <= out[-1][1] or _is_gap(text[out[-1][1] : start])):
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def _is_gap(between: str) -> bool:
    return len(between) < 40 and between.count("\n") < 3 and bool(_BETWEEN.fullmatch(between))

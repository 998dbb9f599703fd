"""What an answer says of the user's own values: one sentence each, from numbers and a cleaned name."""

import re
from collections.abc import Sequence

from engine.chat.fixed import Fixed
from engine.guardrails.citations import neutralise_markers
from engine.guardrails.injection import sanitise
from engine.text.lexemes import content_words, stem
from engine.wire import Biomarker
from engine.wire.fields import Lang

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_UNWANTED = re.compile(r"(?:https?://|www\.)\S*|[<>]")
_ALTERNATIVES = re.compile(r"[(),;/]")


def own_values(markers: Sequence[Biomarker], question: str, title: str, texts: Fixed, lang: Lang) -> list[str]:
    """Sentences on the values that the question or the best document's title names, the newest of each name."""
    named = _stems(question) | _stems(title)
    newest: dict[str, Biomarker] = {}
    for marker in sorted(markers, key=lambda item: item.at.timestamp() if item.at else 0.0):
        if is_named(marker.name, named):
            newest[marker.name.casefold()] = marker
    return [own_value(marker, texts, lang) for marker in newest.values()]


def is_named(name: str, stems: set[str]) -> bool:
    """Whether one of the marker's names, as in «Haemoglobin (Hb)», stands there with all its words.

    One shared word is not enough: vitamin D is not vitamin B12, HDL cholesterol is not LDL cholesterol.
    """
    alternatives = (_stems(part) for part in _ALTERNATIVES.split(name))
    return any(words and words <= stems for words in alternatives)


def own_value(marker: Biomarker, texts: Fixed, lang: Lang) -> str:
    """One sentence with the value, its unit and its flag against the given range."""
    value = f"{number(marker.value, lang)} {_clean(marker.unit)}".strip()
    flag = texts.own_value.no_range
    if marker.ref_low is not None or marker.ref_high is not None:
        flag = _fill(_flag_text(marker, texts), {"range": _range(marker, texts, lang)})
    return _fill(texts.own_value.sentence, {"name": _clean(marker.name), "value": value, "flag": flag})


def number(value: float, lang: Lang) -> str:
    """A number as it is written in the language: decimal comma in Russian."""
    text = f"{value:.10g}"
    return text.replace(".", ",") if lang == "ru" else text


def _stems(text: str) -> set[str]:
    return {stem(word) for word in content_words(text)}


def _clean(text: str) -> str:
    """A name or a unit as it may stand in an answer: one line, no instruction, no marker, link or tag of its own."""
    line = _UNWANTED.sub("", " ".join(text.split()))
    return neutralise_markers(sanitise(line, "title").text)


def _flag_text(marker: Biomarker, texts: Fixed) -> str:
    if marker.ref_high is not None and marker.value > marker.ref_high:
        return texts.own_value.above
    if marker.ref_low is not None and marker.value < marker.ref_low:
        return texts.own_value.below
    return texts.own_value.inside


def _range(marker: Biomarker, texts: Fixed, lang: Lang) -> str:
    low = None if marker.ref_low is None else number(marker.ref_low, lang)
    high = None if marker.ref_high is None else number(marker.ref_high, lang)
    if low is not None and high is not None:
        return _fill(texts.own_value.between, {"low": low, "high": high})
    if low is not None:
        return _fill(texts.own_value.from_low, {"low": low})
    return _fill(texts.own_value.up_to_high, {"high": high or ""})


def _fill(template: str, parts: dict[str, str]) -> str:
    """Placeholders replaced in one pass: what was put in is never read again."""
    return _PLACEHOLDER.sub(lambda match: parts[match.group(1)], template)

"""The context snapshot: what the app knows now, as short lines for a prompt and as a sentence for an answer."""

import re
from collections.abc import Sequence

from engine.chat.fixed import Fixed
from engine.text.lexemes import query_terms
from engine.wire import Biomarker, Context
from engine.wire.fields import Lang

_PLACEHOLDER = re.compile(r"\{(\w+)\}")

_PROFILE = {
    "ru": {"age": "возраст: {}", "female": "пол: женский", "male": "пол: мужской"},
    "en": {"age": "age: {}", "female": "sex: female", "male": "sex: male"},
}


def snapshot(context: Context, texts: Fixed, lang: Lang) -> list[str]:
    """Lines for the prompt; empty where the app passed nothing."""
    words = _PROFILE[lang]
    lines = []
    if context.profile.age is not None:
        lines.append(words["age"].format(context.profile.age))
    if context.profile.sex is not None:
        lines.append(words[context.profile.sex])
    lines += [own_value(marker, texts, lang) for marker in context.biomarkers]
    lines += [f"{name}: {value}" for name, value in context.values.items()]
    return lines


def own_value(marker: Biomarker, texts: Fixed, lang: Lang) -> str:
    """One sentence with the value, its unit and its flag against the given range."""
    value = f"{number(marker.value, lang)} {marker.unit}".strip()
    flag = texts.own_value.no_range
    if marker.ref_low is not None or marker.ref_high is not None:
        flag = _fill(_flag_text(marker, texts), {"range": _range(marker, texts, lang)})
    return _fill(texts.own_value.sentence, {"name": marker.name, "value": value, "flag": flag})


def own_values(markers: Sequence[Biomarker], question: str, title: str, texts: Fixed, lang: Lang) -> list[str]:
    """Sentences on the user's values that the question or the best document's title names, the newest of each name."""
    stems = {term.stem for text in (question, title) for term in query_terms(text)}
    newest: dict[str, Biomarker] = {}
    for marker in sorted(markers, key=lambda item: item.at.timestamp() if item.at else 0.0):
        if stems & {term.stem for term in query_terms(marker.name)}:
            newest[marker.name.casefold()] = marker
    return [own_value(marker, texts, lang) for marker in newest.values()]


def number(value: float, lang: Lang) -> str:
    """A number as it is written in the language: decimal comma in Russian."""
    text = f"{value:.10g}"
    return text.replace(".", ",") if lang == "ru" else text


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

"""The context snapshot: what the app knows now, as short lines for the prompt."""

from engine.chat.fixed import Fixed
from engine.chat.own_values import own_value
from engine.chat.sources import Sanitise
from engine.wire import Context
from engine.wire.fields import Lang

_PROFILE = {
    "ru": {"age": "возраст: {}", "female": "пол: женский", "male": "пол: мужской"},
    "en": {"age": "age: {}", "female": "sex: female", "male": "sex: male"},
}


def snapshot(context: Context, texts: Fixed, lang: Lang, sanitise: Sanitise) -> list[str]:
    """Lines for the prompt, cleaned like a source: an app may pass on what somebody typed."""
    words = _PROFILE[lang]
    lines = []
    if context.profile.age is not None:
        lines.append(words["age"].format(context.profile.age))
    if context.profile.sex is not None:
        lines.append(words[context.profile.sex])
    lines += [own_value(marker, texts, lang) for marker in context.biomarkers]
    lines += [f"{name}: {value}" for name, value in context.values.items()]
    return [sanitise(" ".join(line.split()), "chunk").text for line in lines]

"""The words that tell a follow-up from a question with a topic of its own: data, read once and checked."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from engine.text.characters import INVISIBLE
from engine.text.lexemes import LETTERED, MAX_TOKEN, stem
from engine.text.normalise import clean, normalise
from engine.text.stopwords import STOPWORDS

_FILE = Path(__file__).with_name("follow_up.yaml")
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:[-'’][^\W_]+)*")

TOPIC = "topic"
CIRCUMSTANCE = "circumstance"
NUMBER = "number"
FUNCTION = "function"

ByLang = dict[Literal["ru", "en"], str]


class WordDataError(ValueError):
    """The file of words cannot be read, or contradicts itself; the text names the file and the spot."""


class WordClass(BaseModel):
    """Generic words of one kind; `carried` ones go along with the topic that they stand beside."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ru: str = ""
    en: str = ""
    carried: bool = False


class Examples(BaseModel):
    """Questions by what is to be done with them after a question on something else; each is a test."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    completed: dict[Literal["ru", "en"], list[str]]
    alone: dict[Literal["ru", "en"], list[str]]


class Prepositions(BaseModel):
    """Prepositions by what stands after them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    condition: ByLang
    subject: ByLang


class WordFile(BaseModel):
    """The file as it is written; it says itself what each part is for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    classes: dict[str, WordClass]
    circumstances: ByLang
    names: ByLang
    relations: ByLang
    helps: ByLang
    futures: ByLang
    occasions: ByLang
    omissions: ByLang
    permissions: ByLang
    openings: ByLang
    greetings: ByLang
    interrogatives: ByLang
    conjunctions: ByLang
    anaphora: ByLang
    pointers: ByLang
    persons: ByLang
    auxiliaries: ByLang
    prepositions: Prepositions
    expletives: dict[Literal["ru", "en"], list[str]]
    consequences: dict[Literal["ru", "en"], list[str]]
    relatives: ByLang
    examples: Examples


@dataclass(frozen=True)
class Stems:
    """Words in all their forms: whole stems, and beginnings."""

    stems: frozenset[str]
    beginnings: tuple[str, ...]

    def __contains__(self, token: object) -> bool:
        return isinstance(token, str) and (stem(token) in self.stems or token.startswith(self.beginnings))


@dataclass(frozen=True)
class Words:
    """The file as it is used."""

    classes: Mapping[str, Stems]
    carried: frozenset[str]
    names: frozenset[str]
    relations: Stems
    helps: Stems
    futures: frozenset[str]
    occasions: Stems
    omissions: Stems
    permissions: frozenset[str]
    openings: tuple[tuple[str, ...], ...]
    """Longest first."""
    greetings: frozenset[str]
    interrogatives: frozenset[str]
    conjunctions: frozenset[str]
    anaphora: frozenset[str]
    pointers: frozenset[str]
    persons: frozenset[str]
    auxiliaries: frozenset[str]
    conditions: frozenset[str]
    subjects: frozenset[str]
    expletives: re.Pattern[str]
    consequences: re.Pattern[str]
    relatives: frozenset[str]
    function: frozenset[str]
    """All of these that are single words: they name nothing."""
    examples: Examples

    def class_of(self, token: str) -> str:
        """The class of a normalised token; `TOPIC` where it is in none and no function word."""
        if token in STOPWORDS:
            return FUNCTION
        if token in self.names:
            return TOPIC
        for name, stems in self.classes.items():
            if token in stems:
                return name
        return TOPIC


@dataclass(frozen=True)
class Word:
    """One word of a message: as it is written, as it is told apart, and what it is."""

    surface: str
    low: str
    """Casefolded: function words are told by it, for look-alikes make «а» an English article."""
    token: str
    kind: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """By which two forms of a word are the same."""
        return stem(self.token)


@lru_cache(maxsize=1)
def words() -> Words:
    """The words that come with the program. Raises WordDataError."""
    return load(_FILE)


def load(path: Path) -> Words:
    """The words of a file.

    Raises:
        WordDataError: it cannot be read, or a stem stands in two classes, so that which one counts would be chance.
    """
    try:
        return _in_use(WordFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8"))))
    except (OSError, UnicodeError, yaml.YAMLError, re.error, ValidationError, WordDataError) as error:
        raise WordDataError(f"{path.name}: {_told(error)}") from None


def _told(error: Exception) -> str:
    """What is wrong with the file, in one line."""
    if isinstance(error, ValidationError):
        fault = error.errors(include_input=False, include_url=False)[0]
        return f"{'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}"
    return " ".join(str(error).split())


def _in_use(raw: WordFile) -> Words:
    classes = {name: _stems({"ru": each.ru, "en": each.en}) for name, each in raw.classes.items()}
    classes[CIRCUMSTANCE] = _stems(raw.circumstances)
    refuse_doubles(classes)
    lists = (
        raw.openings,
        raw.greetings,
        raw.interrogatives,
        raw.conjunctions,
        raw.anaphora,
        raw.pointers,
        raw.auxiliaries,
        raw.prepositions.condition,
        raw.prepositions.subject,
    )
    function = frozenset().union(*(_set(each) for each in lists))
    return Words(
        classes=classes,
        carried=frozenset(name for name, each in raw.classes.items() if each.carried),
        names=_set(raw.names),
        relations=_stems(raw.relations),
        helps=_stems(raw.helps),
        futures=_set(raw.futures),
        occasions=_stems(raw.occasions),
        omissions=_stems(raw.omissions),
        permissions=_set(raw.permissions),
        openings=_phrases(raw.openings),
        greetings=_set(raw.greetings),
        interrogatives=_set(raw.interrogatives),
        conjunctions=_set(raw.conjunctions),
        anaphora=_set(raw.anaphora),
        pointers=_set(raw.pointers),
        persons=_set(raw.persons),
        auxiliaries=_set(raw.auxiliaries),
        conditions=_set(raw.prepositions.condition),
        subjects=_set(raw.prepositions.subject),
        expletives=_pattern(raw.expletives),
        consequences=_pattern(raw.consequences),
        relatives=_set(raw.relatives),
        function=function,
        examples=raw.examples,
    )


def plain(text: str) -> str:
    """The text without what cannot be seen, in one form: words are cut from it."""
    return unicodedata.normalize("NFC", INVISIBLE.sub("", clean(text)))


def read(text: str, named: Collection[str] | None = None) -> list[Word]:
    """The words of a `plain` text in order, each with its class.

    With `named`, stems of the words in names of the corpus' topics, a word that is in none of them names no topic:
    «яблоки» after a question about diabetes are a circumstance.
    """
    found: list[Word] = []
    for match in _WORD.finditer(text):
        surface = match[0]
        base = re.split("['’]", surface)[0]  # "it's" is "it"
        written, token = low(base), normalise(base)[:MAX_TOKEN]
        kind = _kind(token, written, found)
        if kind == TOPIC and named is not None and stem(token) not in named:
            kind = CIRCUMSTANCE
        found.append(Word(surface, written, token, kind, match.start(), match.end()))
    return found


def _kind(token: str, written: str, before: list[Word]) -> str:
    if not token or (len(token) == 1 and token.isalpha()):
        # A letter is a name after what letters name: vitamin C.
        return TOPIC if token and before and before[-1].key in LETTERED else FUNCTION
    if not any(char.isalpha() for char in token):
        return NUMBER
    kind = words().class_of(token)
    return FUNCTION if kind == TOPIC and written in words().function else kind


def low(text: str) -> str:
    """A word of the data as `Word.low` has it."""
    return text.casefold().replace("ё", "е")


def _set(by_lang: ByLang) -> frozenset[str]:
    return frozenset(low(word) for each in by_lang.values() for word in each.replace(",", " ").split())


def _pattern(by_lang: Mapping[Literal["ru", "en"], list[str]]) -> re.Pattern[str]:
    return re.compile("|".join(pattern for each in by_lang.values() for pattern in each))


def _phrases(by_lang: ByLang) -> tuple[tuple[str, ...], ...]:
    phrases = {tuple(low(phrase).split()) for each in by_lang.values() for phrase in each.split(",") if phrase.strip()}
    return tuple(sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))


def _stems(by_lang: ByLang) -> Stems:
    entries = [entry for each in by_lang.values() for entry in each.split()]
    whole = frozenset(stem(normalise(entry)) for entry in entries if not entry.endswith("*"))
    beginnings = tuple(sorted({normalise(entry[:-1]) for entry in entries if entry.endswith("*")}))
    return Stems(whole, beginnings)


def refuse_doubles(classes: Mapping[str, Stems]) -> None:
    """Raise WordDataError where a stem stands in two classes."""
    seen: dict[str, str] = {}
    for name, stems in classes.items():
        for entry in stems.stems:
            if entry in seen:
                raise WordDataError(f"The stem {entry!r} stands in the classes {seen[entry]!r} and {name!r}.")
            seen[entry] = name

"""Follow-ups: which questions are completed, with what, and the laws that hold for any dialogue."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.app import build_engine
from engine.cli.errors import run_guarded
from engine.retrieval import follow_up_words
from engine.retrieval.follow_up import MAX_CARRIED, MAX_TURNS, MAX_WORD, complete
from engine.retrieval.follow_up_words import Stems, WordDataError, load, plain, read, refuse_doubles, words
from engine.settings import Settings
from engine.storage.embedded import ConnectionUrls
from engine.wire import Turn

EXAMPLES = words().examples
BEFORE = {"ru": "Что показывает лептин?", "en": "What does leptin show?"}
COMPLETED = [(lang, text) for lang, texts in EXAMPLES.completed.items() for text in texts]
ALONE = [(lang, text) for lang, texts in EXAMPLES.alone.items() for text in texts]


def user(*texts: str) -> list[Turn]:
    return [Turn(role="user", text=text) for text in texts]


def assistant(text: str) -> Turn:
    return Turn(role="assistant", text=text)


@pytest.mark.parametrize(("lang", "text"), COMPLETED)
def test_a_follow_up_is_completed_and_keeps_its_own_words(lang: str, text: str) -> None:
    done = complete(text, user(BEFORE[lang]))
    assert done.completed
    assert done.text.endswith(f": {text}")
    assert {"ru": "лептин", "en": "leptin"}[lang] in done.carried


@pytest.mark.parametrize(("lang", "text"), ALONE)
def test_a_question_with_its_own_topic_is_left_alone(lang: str, text: str) -> None:
    done = complete(text, user(BEFORE[lang]))
    assert (done.text, done.carried) == (text, ())
    assert done.reason in ("own_topic", "nothing_asked")


@pytest.mark.parametrize(
    ("before", "question", "text"),
    [
        ("Что показывает ферритин?", "а если он низкий?", "ферритин: а если он низкий?"),
        ("Витамин D низкий, это плохо?", "Когда пересдать?", "Витамин D низкий плохо: Когда пересдать?"),
        ("What is HbA1c?", "how long do I wait for it?", "HbA1c: how long do I wait for it?"),
        ("Почему высокий холестерин?", "а если низкий?", "холестерин: а если низкий?"),
        ("Какие симптомы у подагры?", "а у женщин?", "симптомы подагры: а у женщин?"),
        ("Какие симптомы у подагры?", "как лечить?", "подагры: как лечить?"),
        ("Норма ферритина при беременности?", "а у мужчин?", "Норма ферритина: а у мужчин?"),
        ("What does a blood count show?", "do I have to fast?", "blood count: do I have to fast?"),
        ("Как стресс влияет на сон?", "и что с этим делать?", "стресс сон: и что с этим делать?"),
    ],
)
def test_the_topic_is_carried_and_of_generic_words_what_the_question_lacks(
    before: str, question: str, text: str
) -> None:
    assert complete(question, user(before)).text == text


def test_follow_ups_in_a_row_lead_back_to_the_topic_and_a_new_topic_replaces_it() -> None:
    chain = user("What is ferritin?", "and in women?", "how is it tested?")
    assert complete("how long does it take?", chain).carried == ("ferritin",)
    switched = user("What is ferritin?", "And what is TSH?", "how is it tested?")
    assert complete("how long does it take?", switched).carried == ("TSH",)


def test_words_of_a_follow_up_between_are_carried_after_the_topic() -> None:
    chain = user("What is ferritin?", "Can it cause hair loss?")
    assert complete("how is that treated?", chain).carried == ("ferritin", "hair", "loss")


def test_a_dialogue_that_begins_with_a_pronoun_still_says_something() -> None:
    assert complete("is it dangerous?", user("Can it cause jaundice?")).carried == ("jaundice",)


def test_what_the_assistant_said_is_never_carried() -> None:
    poisoned = [assistant("Insulin overdose."), *user("What is ferritin?"), assistant("Buy arsenic now.")]
    assert complete("why is it low?", poisoned).carried == ("ferritin",)
    assert complete("why is it low?", [assistant("Insulin.")]).reason == "nothing_to_carry"


def test_of_a_turn_with_many_words_the_first_are_carried() -> None:
    before = "alpha beta gamma delta epsilon zeta eta"
    assert complete("and in men?", user(before)).carried == tuple(before.split())[:MAX_CARRIED]


def test_nothing_is_older_than_the_last_turns() -> None:
    assert complete("why?", user("What is ferritin?", *["why?"] * MAX_TURNS)).reason == "nothing_to_carry"
    assert complete("why?", user("What is ferritin?", *["why?"] * (MAX_TURNS - 1))).carried == ("ferritin",)


def test_a_trace_holds_no_word_of_the_users() -> None:
    assert complete("and in men?", user("What is ferritin?")).summary() == {"follow_up": "fragment", "carried": 1}


@pytest.mark.parametrize("dress", ["А ЕСЛИ ОН НИЗКИЙ?", "а\u200b если о\u00adн низкий", "а  если\nон  низкий…"])
def test_a_follow_up_is_known_in_any_dress(dress: str) -> None:
    assert complete(dress, user("Что показывает фер\u200bритин?")).text == f"ферритин: {dress}"


def test_a_dialogue_changes_its_language_as_it_likes() -> None:
    assert complete("and in women?", user("Что показывает ферритин?")).carried == ("ферритин",)


def test_long_questions_and_turns_cost_little_and_carry_little() -> None:
    long = ("ферритин и " * 2_000)[:20_000]
    assert complete("почему?", user(long)).carried == ("ферритин",)
    endless = ("он, и " * 700)[:4_000]
    assert complete(endless, user("ТТГ?")).text == endless
    assert complete("why?", user("x" * 20_000)).reason == "nothing_to_carry"


def test_a_word_stands_in_one_class() -> None:
    one, other = Stems(frozenset({"низк"}), ()), Stems(frozenset({"низк", "высок"}), ())
    with pytest.raises(WordDataError, match=r"'низк' stands in the classes 'a' and 'b'"):
        refuse_doubles({"a": one, "b": other})


DATA = follow_up_words._FILE.read_text(encoding="utf-8")
DAMAGED = {
    "cut off in a list": (DATA + "    - [", "while parsing"),
    "not a mapping": ("words", "the file: Input should be a valid dictionary"),
    "a part is missing": (DATA.replace("\nrelatives:", "\nsomething:"), "relatives: Field required"),
    "a preposition's part is missing": (DATA.replace("\n  condition:", "\n  other:"), "prepositions.condition: Field"),
    "a pattern that is none": (DATA.replace("\\bтогда", "(тогда"), "missing )"),
    "a word in two classes": (DATA.replace("circumstances:\n  ru: ", "circumstances:\n  ru: низкий "), "stands in the"),
    "another encoding": (DATA.encode("cp1251", "ignore"), "codec can't decode"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_of_words_is_told_by_its_name_in_one_line(tmp_path: Path, damage: str) -> None:
    content, told = DAMAGED[damage]
    path = tmp_path / "words.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(WordDataError) as caught:
        load(path)
    line = str(caught.value)
    assert line.startswith("words.yaml: ")
    assert told in line
    assert "\n" not in line


def test_a_damaged_file_of_words_stops_the_start_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any question is asked, and whatever the question would be."""
    monkeypatch.setattr(follow_up_words, "_FILE", tmp_path / "absent.yaml")
    words.cache_clear()
    urls = ConnectionUrls(admin="", engine="postgresql+psycopg://nobody@127.0.0.1:1/none", console="")
    settings = Settings(state_dir=tmp_path, embedder="use")
    try:
        assert run_guarded(lambda: build_engine(settings, urls), debug=False) == 1
    finally:
        words.cache_clear()
    said = capsys.readouterr().err.strip()
    assert said.startswith("Error: absent.yaml: ")
    assert "\n" not in said


def test_a_single_letter_is_a_name_where_letters_name() -> None:
    assert [word.kind for word in read("витамин С")] == ["topic", "topic"]
    assert [word.kind for word in read("с витамином")] == ["function", "topic"]


# Dialogues of words that matter here, in any order, and of any characters at all.
_PIECES = sorted(
    {piece for _, text in [*COMPLETED, *ALONE] for piece in re.findall(r"\w+|[?.,:]", text)}
    | {"vitamin", "C", "витамин", "В", "HbA1c", "8,5", "это", "low", "high", "\u200b", "—"}
)
_SAID = st.one_of(st.lists(st.sampled_from(_PIECES), max_size=12).map(" ".join), st.text(max_size=60))
_HISTORY = st.lists(st.builds(Turn, role=st.sampled_from(["user", "assistant"]), text=_SAID), max_size=8)


@given(_SAID, _HISTORY)
def test_completing_twice_is_completing_once(question: str, history: list[Turn]) -> None:
    once = complete(question, history)
    assert complete(once.text, history).text == once.text


@given(_SAID, _HISTORY)
def test_the_question_stays_whole_and_little_stands_before_it(question: str, history: list[Turn]) -> None:
    done = complete(question, history)
    assert done.text.endswith(question)
    assert len(done.carried) <= MAX_CARRIED
    assert len(done.text) <= len(question) + MAX_CARRIED * (MAX_WORD + 1) + 1
    assert done.completed == (done.text != question)


@given(_SAID, _HISTORY)
def test_every_carried_word_was_said_by_the_user(question: str, history: list[Turn]) -> None:
    said = {word.surface for turn in history if turn.role == "user" for word in read(plain(turn.text))}
    assert set(complete(question, history).carried) <= said


@given(_SAID)
def test_without_a_history_nothing_changes(question: str) -> None:
    assert complete(question, []).text == question


@given(st.sampled_from(ALONE), _HISTORY)
def test_no_history_drags_a_question_with_a_topic_back(example: tuple[str, str], history: list[Turn]) -> None:
    assert complete(example[1], history).text == example[1]

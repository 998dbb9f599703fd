"""Evaluation sets: what is read, what is refused, and how the refusal reads."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from engine.evaluation.errors import EvaluationError
from engine.evaluation.sets import (
    CALIBRATION_SETS,
    DEFAULT_SETS,
    NoneCase,
    RetrievalCase,
    known_sets,
    load_set,
    resolve_sets,
)

ANSWERABLE = {"id": "a", "lang": "ru", "text": "ферритин норма", "topics": ["ferritin"], "style": "keywords"}
FIRST = {"role": "user", "text": "что такое ферритин"}
OFF_CORPUS = {"id": "n", "lang": "en", "text": "my cat sneezes", "kind": "vet"}


def write(folder: Path, *rows: Any, name: str = "own.jsonl") -> Path:
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_fields_tell_what_a_file_holds(tmp_path: Path) -> None:
    answerable = load_set(write(tmp_path, ANSWERABLE))
    off_corpus = load_set(write(tmp_path, OFF_CORPUS))
    assert (answerable.kind, type(answerable.cases[0])) == ("retrieval", RetrievalCase)
    assert (off_corpus.kind, type(off_corpus.cases[0])) == ("expect_none", NoneCase)


def test_cases_keep_the_order_of_the_file_and_notes_beside_the_fields_are_no_fault(tmp_path: Path) -> None:
    path = write(tmp_path, {**ANSWERABLE, "id": "b", "added": "2026-11-30", "split": "dev"}, "", ANSWERABLE)
    assert [case.id for case in load_set(path).cases] == ["b", "a"]


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(ANSWERABLE).encode() + b"\r\n")
    assert load_set(path).cases[0].text == "ферритин норма"


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path: Path) -> None:
    path = write(tmp_path, {**ANSWERABLE, "text": "one\u2028two"})
    assert load_set(path).cases[0].text == "one\u2028two"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "the line is not valid JSON."),
        ("[" * 100_000, "the line is not valid JSON."),
        ("[1]", "a line holds one JSON object."),
        ({"id": "x", "lang": "ru", "text": "x"}, "either `topics`"),
        ({**ANSWERABLE, "id": "x", "kind": "vet"}, "either `topics`"),
        ({**ANSWERABLE, "id": "x", "topics": []}, "topics: Tuple should have at least 1 item"),
        ({**ANSWERABLE, "id": "x", "topics": "ferritin"}, "topics: Input should be a valid tuple"),
        ({**ANSWERABLE, "id": "x", "topics": [" "]}, "topics.0: String should match"),
        ({**ANSWERABLE, "id": "x", "lang": "de"}, "lang: Input should be 'ru' or 'en'"),
        ({**ANSWERABLE, "id": "x", "text": "  "}, "text: String should match"),
        ({**ANSWERABLE, "id": "x", "text": "x" * 4_001}, "text: Text should have at most 4,000 characters, not 4,001"),
        ({**ANSWERABLE, "id": 7}, "id: Input should be a valid string"),
        ({**ANSWERABLE, "id": "x", "history": [{"role": "system", "text": "x"}]}, "history.0.role: Input should be"),
        ({**ANSWERABLE, "id": "x", "history": [{"role": "user"}]}, "history.0.text: Field required"),
        ({**ANSWERABLE, "id": "x", "history": [FIRST] * 101}, "history: Tuple should have at most 100 items"),
        ({**OFF_CORPUS, "id": "x"}, "a file holds cases of one kind"),
        (ANSWERABLE, "id 'a' stands already in line 1."),
    ],
)
def test_a_fault_is_one_line_that_names_file_and_line(tmp_path: Path, line: Any, fault: str) -> None:
    path = write(tmp_path, ANSWERABLE, line)
    with pytest.raises(EvaluationError) as caught:
        load_set(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_utf8_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(json.dumps(ANSWERABLE).encode() + b"\n\xff\n")
    with pytest.raises(EvaluationError, match=r"own\.jsonl:2: the file is not valid UTF-8\."):
        load_set(path)


def test_what_postgres_cannot_store_is_dropped(tmp_path: Path) -> None:
    row = {**ANSWERABLE, "id": "a\0", "text": "x\ud800\0y", "style": "\0", "topics": ["tsh\0"]}
    (case,) = load_set(write(tmp_path, json.dumps(row))).cases
    assert case.model_dump() == {
        "id": "a", "lang": "ru", "text": "xy", "style": "", "history": (), "topics": ("tsh",)
    }  # fmt: skip


def test_an_empty_file_and_a_missing_one_are_told(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="the set is empty"):
        load_set(write(tmp_path, ""))
    with pytest.raises(EvaluationError, match="No such file"):
        load_set(tmp_path / "absent.jsonl")


def test_the_hash_follows_the_cases_and_not_their_order_or_notes(tmp_path: Path) -> None:
    other = {**ANSWERABLE, "id": "b"}
    first = load_set(write(tmp_path, ANSWERABLE, other)).hash
    assert load_set(write(tmp_path, {**other, "added": "today"}, ANSWERABLE)).hash == first
    assert load_set(write(tmp_path, ANSWERABLE, {**other, "topics": ["ferritin", "tsh"]})).hash != first


def test_a_case_may_hold_what_was_said_before_and_knows_what_the_user_asked(tmp_path: Path) -> None:
    answer = {"role": "assistant", "text": "Белок."}
    (case,) = load_set(write(tmp_path, {**ANSWERABLE, "history": [FIRST, answer]})).cases
    assert [turn.role for turn in case.history] == ["user", "assistant"]
    assert case.asked == ("что такое ферритин", "ферритин норма")


def test_a_history_changes_the_hash_and_cases_without_one_keep_the_hash_that_was_recorded(tmp_path: Path) -> None:
    plain = load_set(write(tmp_path, ANSWERABLE))
    line = json.dumps(
        {name: ANSWERABLE[name] for name in sorted(ANSWERABLE)}, ensure_ascii=False, separators=(",", ":")
    )
    assert plain.hash == hashlib.sha256(line.encode()).hexdigest()
    assert load_set(write(tmp_path, {**ANSWERABLE, "history": []})).hash == plain.hash
    assert load_set(write(tmp_path, {**ANSWERABLE, "history": [FIRST]})).hash != plain.hash


def test_names_resolve_and_an_unknown_one_is_answered_with_those_there_are(tmp_path: Path) -> None:
    write(tmp_path, ANSWERABLE, name="small.jsonl")
    (loaded,) = resolve_sets(["small"], root=tmp_path)
    assert (loaded.name, len(loaded.cases)) == ("small", 1)
    with pytest.raises(EvaluationError, match=r"There is no set 'smal'\. Known sets: small\."):
        resolve_sets(["smal"], root=tmp_path)


def test_two_sets_of_one_name_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ANSWERABLE, name="small.jsonl")
    with pytest.raises(EvaluationError, match="'small' is given twice"):
        resolve_sets(["small"], [path], root=tmp_path)


def test_the_shipped_sets_are_in_order_and_hold_both_languages_alike() -> None:
    assert set(DEFAULT_SETS + CALIBRATION_SETS) <= set(known_sets())
    for eval_set in resolve_sets(known_sets()):
        langs = [case.lang for case in eval_set.cases]
        assert langs.count("ru") == langs.count("en") > 0, eval_set.name

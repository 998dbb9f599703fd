"""Citation repair: the written rule as a table, and its promises as properties of any string."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.guardrails.citations import drop_links, neutralise_markers, repair
from engine.guardrails.markers import segments

UNTOUCHED = [
    "сахар [8,5 ммоль/л] и [8.5 mmol/L]",
    "давление [120/80], [95% CI 1.2–3.4], [18F]ФДГ, [B12], [n = 12], [Na+]",
    "витамин (1) и (2)",
    "пункт [x] и [ ] и []",
    "глава [2024] и [1998, 2024]",
    "```\nx[7] = arr[8]\n```\nпосле",
    "~~~py\na = [9]\n~~~",
    "строка `a[9]` и ``b`[8]``",
    "x[9] = 3, а y = [7, 8]",
    "total[9] += 1",
    '{"ids": [7, 8]}',
    "см. [9](https://example.org/a) и [1](/doc)",
    "норма [60-100] уд/мин, пульс [60–100] bpm",
    "референсный интервал: [4-10]",
    "95% ДИ [1, 3] и 95% CI [2-3]",
    "незакрытая [9 и закрытая 9]",
    "[9\n```\n]",
]

REPAIRED = [
    # text, expected, cited, removed (three sources)
    ("[1]", "[1]", (1,), ()),
    ("верно [1][2].", "верно [1][2].", (1, 2), ()),
    ("верно [1, 2].", "верно [1][2].", (1, 2), ()),
    ("верно [2,1].", "верно [2][1].", (2, 1), ()),
    ("верно [1; 2] и [1 , 2]", "верно [1][2] и [1][2]", (1, 2), ()),
    ("верно [1 и 2], [1 and 3], [2 & 3]", "верно [1][2], [1][3], [2][3]", (1, 2, 3), ()),
    ("верно [[1]]", "верно [1]", (1,), ()),
    ("верно [[1], [2]]", "верно [1][2]", (1, 2), ()),
    ("【1】［1］【1†source】[１]", "[1][1][1][1]", (1,), ()),
    ("[ 1 ] [^1] [источник 2] [Source 1]", "[1] [1] [2] [1]", (1, 2), ()),
    ("[sources 1 and 2] [Источники: 1, 3] [№2] [ref. 3]", "[1][2] [1][3] [2] [3]", (1, 2, 3), ()),
    ("[\u20661\u2069] [\u31642]", "[1] [2]", (1, 2), ()),
    ("[1-3] и [1–3]", "[1][2][3] и [1][2][3]", (1, 2, 3), ()),
    ("[2-5]", "[2][3]", (2, 3), (4, 5)),
    ("[1-999999999]", "[1][2][3]", (1, 2, 3), (999999999,)),
    ("нет [3-1].", "нет.", (), (3, 1)),
    ("нет [0], [-1] и [4].", "нет, и.", (), (0, -1, 4)),
    ("нет [5,7] да", "нет да", (), (5, 7)),
    ("две  [9] пробела", "две  пробела", (), (9,)),
    ("неразрывный\u00a0[9]", "неразрывный\u00a0", (), (9,)),
    ("[9] начало", " начало", (), (9,)),
    ("слово[9].", "слово.", (), (9,)),
    ("слово[1], vitamin C[2], (HbA1c[3])", "слово[1], vitamin C[2], (HbA1c[3])", (1, 2, 3), ()),
    ("часть [1, 9] есть", "часть [1] есть", (1,), (9,)),
    ("дубль [1][1]", "дубль [1][1]", (1,), ()),
    ("в норме [1, 2].", "в норме [1][2].", (1, 2), ()),
    ("[[9]8] x", " x", (), (9, 8)),
    ("[" + "1" * 40 + "]", "", (), (10**18,)),
    ("[см. обзор [2]]", "[см. обзор [2]]", (2,), ()),
    ("код `a[9]` и [1]\n```\n[8]\n```\n[2]", "код `a[9]` и [1]\n```\n[8]\n```\n[2]", (1, 2), ()),
    ("[1]\u200b и [\u200b2]", "[1]\u200b и [2]", (1, 2), ()),
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_is_no_marker_stays(text: str) -> None:
    found = repair(text, 3)
    assert (found.text, found.cited, found.removed) == (text, (), ())


@pytest.mark.parametrize(("text", "expected", "cited", "removed"), REPAIRED)
def test_repair(text: str, expected: str, cited: tuple[int, ...], removed: tuple[int, ...]) -> None:
    found = repair(text, 3)
    assert (found.text, found.cited, found.removed) == (expected, cited, removed)


@pytest.mark.parametrize("sources", [0, -1])
def test_without_sources_every_marker_goes(sources: int) -> None:
    assert repair("Да [1], [2-3] и 【4】.", sources).text == "Да, и."


SIGNS = st.text(alphabet=list('[]［］【】()`~\n 0123456789,;-–^†=xмги.#/"\u200b'), max_size=60)
PIECES = st.lists(
    st.sampled_from(["[1]", "[9]", "[1, 9]", "[2-8]", "[[", "]]", " ", "`", "``", "```", "\n", "слово", "[", "]", "9"]),
    max_size=25,
).map("".join)
ANY = st.one_of(st.text(), SIGNS, PIECES)
SOURCES = st.integers(min_value=-1, max_value=12)


@given(ANY, SOURCES)
@settings(max_examples=400, deadline=None)
def test_repair_is_idempotent(text: str, sources: int) -> None:
    once = repair(text, sources)
    twice = repair(once.text, sources)
    assert (twice.text, twice.cited, twice.removed) == (once.text, once.cited, ())


def _outside_code(text: str) -> str:
    return "\0".join(piece for piece, is_code in segments(text) if not is_code)


@given(
    st.lists(st.sampled_from(["[1]", "[7]", "【2】", "[3, 4]", "[1-9]", "[0]", " слово ", ". ", "\n"])),
    SOURCES,
)
@settings(max_examples=200, deadline=None)
def test_every_number_left_points_to_a_source(pieces: list[str], sources: int) -> None:
    left = [int(n) for n in re.findall(r"\[(\d+)\]", _outside_code(repair("".join(pieces), sources).text))]
    assert all(1 <= n <= sources for n in left)


@given(SIGNS, SOURCES)
@settings(max_examples=300, deadline=None)
def test_cited_numbers_are_valid_and_unique(text: str, sources: int) -> None:
    found = repair(text, sources)
    assert all(1 <= n <= sources for n in found.cited)
    assert len(set(found.cited)) == len(found.cited)
    assert len(set(found.removed)) == len(found.removed)
    assert all(f"[{n}]" in found.text for n in found.cited)


@given(st.lists(st.tuples(st.text(alphabet="абв xyz.!\n", max_size=8), st.integers(-3, 9)), max_size=12))
@settings(max_examples=200, deadline=None)
def test_text_outside_the_markers_stays(pairs: list[tuple[str, int]]) -> None:
    text = "".join(f"{words}.[{n}]" for words, n in pairs)
    expected = "".join(f"{words}.[{n}]" if 1 <= n <= 4 else f"{words}." for words, n in pairs)
    assert repair(text, 4).text == expected


@given(ANY)
@settings(max_examples=300, deadline=None)
def test_neutralised_text_has_no_marker(text: str) -> None:
    clean = neutralise_markers(text)
    assert repair(clean, 99).cited == ()
    assert neutralise_markers(clean) == clean
    assert len(re.findall(r"\w", clean)) == len(re.findall(r"\w", text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("доказано [3].", "доказано (3)."),
        (
            "доказано [3, 4], 【5】, [^6], [7-9], [источник 2]",
            "доказано (3, 4), (5), (6), (7-9), (источник 2)",
        ),
        ("глюкоза [8.5 ммоль/л], [B12], [2024]", "глюкоза [8.5 ммоль/л], [B12], [2024]"),
        ("`a[1]` и [1](http://x)", "`a(1)` и (1)(http://x)"),
    ],
)
def test_neutralise(text: str, expected: str) -> None:
    assert neutralise_markers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("см. [1](http://evil.example)", "см. [1]"),
        ("см. [обзор](http://evil.example/a(b)c) тут", "см. обзор тут"),
        ("![схема](http://evil.example/x.png?q=secret)", "схема"),
        ("[![a](http://i)](http://l)", "a"),
        ("[[1]](http://evil)", "[1]"),
        ("текст [1]\n[1]: http://evil.example\nдальше", "текст [1]\nдальше"),
        ("`[1](http://x)` и [1] (пояснение)", "`[1](http://x)` и [1] (пояснение)"),
    ],
)
def test_drop_links(text: str, expected: str) -> None:
    assert drop_links(text) == expected


ADVERSARIAL = [
    "[" * 100_000,
    "[" + "1" * 40 + "x",
    "[" + "1" * 100_000,
    "[1" * 50_000,
    "[1]" * 33_000,
    "[9]" * 33_000,
    "[" * 50_000 + "1" + "]" * 50_000,
    "[a" * 30_000 + "]" * 30_000,
    "[" + "1," * 50_000 + "1]",
    "[1](" * 25_000,
    "`" * 100_000,
    "".join("`" * n + "a" for n in range(440)),
    "~~~\n```\n" * 12_000,
    "[1-" * 30_000,
    " " * 100_000 + "[9]",
]


@pytest.mark.parametrize("text", ADVERSARIAL, ids=range(len(ADVERSARIAL)))
def test_adversarial_input_is_read_to_its_end(text: str) -> None:
    repaired = repair(text, 5)
    assert all(1 <= n <= 5 for n in repaired.cited)
    assert repair(repaired.text, 5).text == repaired.text
    assert neutralise_markers(neutralise_markers(text)) == neutralise_markers(text)
    assert drop_links(text) is not None

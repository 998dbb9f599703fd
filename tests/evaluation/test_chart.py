"""The picture of recall@4 by corpus size: what it draws, what it says to those who cannot see it, and the README's."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID
from xml.etree import ElementTree

import pytest

from engine.cli.eval_records import FIGURE
from engine.evaluation.chart import Step, growth_steps, recall_chart
from engine.evaluation.history import HISTORY, files, read
from engine.evaluation.records import Corpus, MetricRow, RecordedRun, Status, recorded
from engine.evaluation.statistics import Interval
from engine.wire.metrics import GROWTH
from tests.evaluation.stand_in import head

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SVG = "{http://www.w3.org/2000/svg}"


def grown(documents: int, recall: float, *, hour: int = 0, label: str = GROWTH, status: Status = "done") -> RecordedRun:
    """A run after a step of growth, the same in both languages."""
    run = head(
        id=UUID(int=documents * 100 + hour),
        started_at=NOON + timedelta(hours=hour),
        corpus=Corpus("c0ffee", documents, documents * 9),
        label=label,
        status=status,
    )
    rows = [
        MetricRow("retrieval", lang, "recall@4", recall, Interval(recall - 0.02, min(1.0, recall + 0.01)), 100, 99)
        for lang in ("all", "ru", "en")
    ]
    return recorded(run, rows)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_picture_of_the_readme_is_what_the_recorded_runs_give() -> None:
    """After a step is recorded: `anamnesis eval chart`."""
    assert FIGURE.read_text(encoding="utf-8") == recall_chart(growth_steps(map(read, files(HISTORY))))
    root = FIGURE.parents[2]
    assert f"]({FIGURE.relative_to(root)})" in (root / "README.md").read_text(encoding="utf-8")


def test_steps_are_the_newest_run_of_every_size_that_bears_the_label() -> None:
    runs = [
        grown(70, 0.97, hour=2),
        grown(34, 0.5, hour=9, label="tried"),
        grown(34, 0.6, hour=8, status="failed"),
        grown(34, 0.99, hour=1),
        grown(34, 0.98),
    ]
    found = [(step.lang, step.documents, step.value, step.scored) for step in growth_steps(runs)]
    assert found == [("ru", 34, 0.99, 99), ("ru", 70, 0.97, 99), ("en", 34, 0.99, 99), ("en", 70, 0.97, 99)]


def test_a_run_without_a_figure_is_no_step() -> None:
    run = grown(34, 0.9)
    lost = replace(run, metrics=tuple(replace(row, value=None, ci=None) for row in run.metrics))
    assert growth_steps([lost]) == ()


def test_the_picture_stands_alone_and_says_in_words_what_it_draws() -> None:
    svg = recall_chart(growth_steps([grown(34, 0.99), grown(272, 0.95, hour=1)]))
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    names = {
        element.get("id") for element in (root.find(f"{SVG}title"), root.find(f"{SVG}desc")) if element is not None
    }
    assert names == set((root.get("aria-labelledby") or "").split())
    told = root.findtext(f"{SVG}desc") or ""
    assert "Russian, 34 documents: 0.990 (0.970 to 1.000, 99 questions)." in told
    assert "English, 272 documents: 0.950 (0.930 to 0.960, 99 questions)." in told
    assert "prefers-color-scheme: dark" in svg
    assert set(re.findall(r"(?:https?:|url\(|href|@import)[^\"]*", svg)) == {"http://www.w3.org/2000/svg"}


def test_values_and_languages_stand_at_their_marks() -> None:
    svg = recall_chart(growth_steps([grown(34, 0.99), grown(272, 0.95, hour=1)]))
    assert {"Russian 0.950", "English 0.950", "34", "272", "99+99", "checkpoint", "stretch target"} <= set(texts(svg))
    assert texts(svg).count("0.990") == 2
    ends = [e for e in ElementTree.fromstring(svg).iter(f"{SVG}text") if (e.text or "").endswith(" 0.950")]
    assert abs(float(ends[0].get("y", 0)) - float(ends[1].get("y", 0))) >= 15


@pytest.mark.parametrize("value", [0.0, 0.3, 0.75, 1.0])
def test_every_mark_lies_within_the_picture(value: float) -> None:
    steps = [
        Step(34, lang, value, Interval(max(0.0, value - 0.1), min(1.0, value + 0.1)), 9, "a") for lang in ("ru", "en")
    ]
    root = ElementTree.fromstring(recall_chart(steps))
    places = [float(element.get(key, 0)) for element in root.iter() for key in ("y", "y1", "y2", "cy")]
    assert min(places) >= 0
    assert max(places) <= float(root.get("height", 0))


def test_one_language_alone_is_drawn() -> None:
    svg = recall_chart([Step(34, "en", 0.9, Interval(0.8, 0.95), 9, "a")])
    assert "English 0.900" in texts(svg)
    assert not [text for text in texts(svg) if text.startswith("Russian 0")]


def test_the_same_runs_give_the_same_picture_in_whatever_order() -> None:
    runs = [grown(34, 0.99), grown(70, 0.97, hour=1), grown(172, 0.96, hour=2)]
    assert recall_chart(growth_steps(runs)) == recall_chart(growth_steps(runs[::-1]))

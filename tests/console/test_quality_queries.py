"""Growth of the corpus and the relevance gate, as the console's own role reads them from the metrics views."""

import pandas as pd
import pytest
import sqlalchemy as sa

from console.queries import gate, quality
from engine.evaluation.gate_report import STEPS, gate_point, recommend
from tests.console.rows import run_id

RUN = str(run_id(2))
ANSWERABLE = {"ru": [0.95, 0.85, 0.35], "en": [0.75, 0.65, 0.0]}
UNANSWERABLE = {"ru": [0.62], "en": [0.31, 0.0, 0.55]}
"""Best scores that are known; one of Russian is not."""
IN_FORCE = 0.5


def test_growth_has_the_newest_run_of_every_size_by_language(console: sa.Connection) -> None:
    found = quality.growth(console)
    mine = found[found["started_at"].dt.year == 2001]
    assert list(zip(mine["lang"], mine["documents"], mine["value"].round(2), strict=True)) == [
        ("ru", 34, 0.96),
        ("ru", 70, 0.94),
        ("en", 34, 1.0),
        ("en", 70, 0.98),
    ]
    assert set(mine["run"]) == {str(run_id(12)), str(run_id(13))}
    assert not mine["elsewhere"].any()


def test_the_newest_run_of_all_has_the_usual_set(console: sa.Connection) -> None:
    newest = quality.newest(console)
    assert newest is not None
    assert newest.started_at == console.execute(sa.text("SELECT max(started_at) FROM metrics.eval_run")).scalar_one()


def test_the_gate_of_a_run(console: sa.Connection) -> None:
    found = gate.gate(console, RUN)
    everything = [score for scores in ANSWERABLE.values() for score in scores]
    assert gate.sets(console, RUN) == ["retrieval"]
    assert found == gate.Gate(IN_FORCE, recommend(everything, []).threshold, 6, 5, 1, IN_FORCE)


@pytest.mark.parametrize("lang", ["all", "ru", "en"])
def test_the_curve_is_that_of_the_gate_report(console: sa.Connection, lang: str) -> None:
    """The SQL and `engine.evaluation.gate_report` must not tell two stories."""
    langs = ("ru", "en") if lang == "all" else (lang,)
    answerable = [score for code in langs for score in ANSWERABLE[code]]
    known = [score for code in langs for score in UNANSWERABLE[code]]
    none = known + [0.0] * ("ru" in langs)  # the unknown one lies below the threshold in force
    curve = gate.curve(console, RUN)
    rows = curve[curve["lang"] == lang].set_index("threshold")
    assert set(STEPS) <= set(rows.index)
    for threshold, row in rows.iterrows():
        point = gate_point(float(threshold), answerable, none)  # type: ignore[arg-type]
        assert (row["answerable"], row["unanswerable"]) == (len(answerable), len(none))
        assert row["lost"] / len(answerable) == point.false_abstention
        if float(threshold) < IN_FORCE:  # type: ignore[arg-type]
            assert pd.isna(row["passed"])
        else:
            assert row["passed"] / len(none) == point.missed_abstention


def test_both_thresholds_that_stand_out_are_on_the_curve(console: sa.Connection) -> None:
    found = gate.gate(console, RUN)
    assert found is not None
    assert {found.in_force, found.at_limit} <= set(gate.curve(console, RUN)["threshold"])


def test_shares_by_score_leave_out_spans_of_which_something_is_not_known(console: sa.Connection) -> None:
    found = gate.reliability(console, RUN, IN_FORCE)
    spans = [(row.lang, round(row.span_low, 1), row.answerable, row.questions) for row in found.itertuples()]
    assert spans == [
        ("ru", 0.6, 0, 1),
        ("ru", 0.8, 1, 1),
        ("ru", 0.9, 1, 1),
        ("en", 0.5, 0, 1),
        ("en", 0.6, 1, 1),
        ("en", 0.7, 1, 1),
    ]
    everything = gate.reliability(console, RUN, 0.0)
    assert int(everything["questions"].sum()) == 10
    assert float(everything[everything["lang"] == "en"]["mean_score"].iloc[0]) == 0.0


def test_a_run_without_cases_has_no_gate(console: sa.Connection) -> None:
    assert gate.gate(console, str(run_id(1))) is None
    assert gate.sets(console, str(run_id(1))) == []
    assert gate.curve(console, str(run_id(1))).empty
    assert gate.reliability(console, str(run_id(1)), 0.0).empty


def test_the_views_of_the_gate_hold_no_question(console: sa.Connection) -> None:
    for view in ("eval_top_score", "eval_gate", "eval_gate_curve"):
        for row in console.execute(sa.text(f"SELECT * FROM metrics.{view}")):
            assert "words" not in str(tuple(row))

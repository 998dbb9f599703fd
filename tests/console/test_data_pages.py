"""The data pages over a real database, run by Streamlit's own test runner."""

from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from streamlit.proto.Metric_pb2 import Metric as MetricProto
from streamlit.testing.v1 import AppTest

from console import data, formats, texts
from console.filter_bar import _SAVED
from console.views.answer import literal
from engine.storage import schema
from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import owner_connection
from engine.wire.fields import Lang
from tests.console.conftest import Page
from tests.console.rows import PERIOD, run_id

EN = texts.catalogue("en")
RU = texts.catalogue("ru")
DATA_PAGES = ("quality", "performance", "safety", "usage")


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("name", DATA_PAGES)
@pytest.mark.parametrize("ui", ["en", "ru"])
def test_a_page_shows_its_data_in_both_languages(page: Page, name: str, ui: str) -> None:
    app = page(name, "admin", PERIOD | {"ui": ui})
    assert not app.exception
    assert not app.error
    assert [element.value for element in app.title] == [texts.catalogue(ui)[f"{name}.title"]]  # type: ignore[arg-type]
    assert app.metric
    assert app.dataframe
    assert _csv_buttons(app)


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("name", DATA_PAGES)
def test_a_period_without_data_says_so(page: Page, name: str) -> None:
    app = page(name, "admin", PERIOD | {"from": "1999-01-01", "to": "1999-01-31"})
    assert not app.exception
    text = EN["quality.empty" if name == "quality" else "data.no_messages"]
    assert any(text in element.value for element in app.markdown)


@pytest.mark.usefixtures("database")
def test_usage_counts_the_app_alone_until_told_otherwise(page: Page) -> None:
    assert _metric(page("usage", "product", PERIOD), EN["card.messages"]) == "10"
    app = page("usage", "product", PERIOD | {"origin": "app,test_chat"})
    assert _metric(app, EN["card.messages"]) == "11"
    assert any("4 of 6" not in element.value and "of 11" in element.value for element in app.caption)


@pytest.mark.usefixtures("database")
def test_safety_shares_have_their_counts(page: Page) -> None:
    app = page("safety", "safety", PERIOD)
    captions = [element.value for element in app.caption]
    assert _metric(app, EN["safety.judge_error"]) == "20.0%"
    assert any(line.startswith("1 of 5") for line in captions)
    assert _metric(app, EN["safety.urgent"]) == "10.0%"


@pytest.mark.usefixtures("database")
def test_quality_tells_targets_counts_and_what_was_lost(page: Page) -> None:
    app = page("quality", "product", PERIOD)
    assert _metric(app, f"recall@4 · {EN['lang.all']}") == "0.860"
    assert any("98 of 100" in element.value for element in app.caption)
    assert EN["quality.verdict_stretch"] in _badges(app)
    assert EN["quality.unscored"].format(count=2) in _badges(app)
    (metrics,) = [table.value for table in app.dataframe if "change" in table.value]
    assert EN["quality.change_missing"] in list(metrics["change"])
    assert any("0.700" in element.value and "+0.160" in element.value for element in app.caption)


@pytest.mark.usefixtures("database")
def test_a_figure_that_stayed_has_neither_arrow_nor_colour(page: Page, database: ConnectionUrls) -> None:
    with owner_connection(database.admin) as owner:
        recall = sa.update(schema.eval_metric).where(
            schema.eval_metric.c.run_id == run_id(2), schema.eval_metric.c.metric == "recall@4"
        )
        changed = recall.where(schema.eval_metric.c.lang == "all")
        owner.execute(changed.values(value=0.8601))
    try:
        cards = {card.label: card for card in page("quality", "product", PERIOD).metric}
    finally:
        with owner_connection(database.admin) as owner:
            owner.execute(changed.values(value=0.80))
    stayed, moved = cards[f"recall@4 · {EN['lang.all']}"], cards[f"recall@4 · {EN['lang.ru']}"]
    assert (stayed.delta, moved.delta) == ("0.000", "+0.060")
    assert stayed.proto.color == MetricProto.MetricColor.GRAY
    assert stayed.proto.direction == MetricProto.MetricDirection.NONE
    assert moved.proto.color == MetricProto.MetricColor.GREEN


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"corpus_hash": "d" * 64}, "quality.not_compared_corpus"),
        ({"provenance": {"sets": {"retrieval": {"hash": "others"}}}}, "quality.not_compared_questions"),
        ({"provenance": {}}, "quality.not_compared_questions"),
    ],
)
def test_figures_of_another_corpus_or_of_other_questions_are_not_compared(
    page: Page, database: ConnectionUrls, change: dict[str, Any], told: str
) -> None:
    earlier = sa.update(schema.eval_run).where(schema.eval_run.c.id == run_id(2))
    with owner_connection(database.admin) as owner:
        kept = owner.execute(sa.select(schema.eval_run).where(schema.eval_run.c.id == run_id(2))).mappings().one()
        owner.execute(earlier.values(change))
    try:
        app = page("quality", "product", PERIOD)
    finally:
        with owner_connection(database.admin) as owner:
            owner.execute(earlier.values({name: kept[name] for name in change}))
    card = next(card for card in app.metric if card.label == f"recall@4 · {EN['lang.all']}")
    assert card.delta == EN[told]
    assert card.proto.color == MetricProto.MetricColor.GRAY
    assert card.proto.direction == MetricProto.MetricDirection.NONE
    (metrics,) = [table.value for table in app.dataframe if "change" in table.value]
    assert EN[told] in set(metrics[metrics["set"] == "retrieval"]["change"])
    assert not any(sign in str(cell) for cell in metrics["change"] for sign in "+−")


@pytest.mark.usefixtures("database")
def test_a_period_is_not_told_to_lack_a_comparison_that_the_cards_make(page: Page) -> None:
    app = page("quality", "product", PERIOD | {"from": "2001-03-10"})
    assert app.metric[0].delta == "+0.060"
    assert any("0.800; change since then: +0.060." in element.value for element in app.caption)
    app = page("quality", "product", PERIOD | {"from": "2001-03-19", "to": "2001-03-21"})
    assert app.metric[0].delta == "+0.060"
    assert not any("previous" in element.value for element in app.caption)


@pytest.mark.usefixtures("database")
def test_what_is_of_another_set_than_the_chosen_one_says_so(page: Page) -> None:
    app = page("quality", "product", PERIOD | {"run": str(run_id(2))})
    labels = [card.label for card in app.metric]
    assert f"{EN['metric.abstention']} · {literal('expect_none')}" in labels
    assert EN["metric.mrr"] in labels
    headings = [element.value for element in app.subheader]
    assert {f"{EN[key]} · retrieval" for key in ("quality.trend", "quality.by_language")} <= set(headings)


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("ui", ["en", "ru"])
def test_the_gate_recommends_nothing_from_test_questions(page: Page, ui: Lang) -> None:
    app = page("quality", "product", PERIOD | {"run": str(run_id(2)), "ui": ui})
    assert texts.catalogue(ui)["gate.asked"].format(sets="retrieval") in [element.value for element in app.caption]
    (costs,) = [table.value for table in app.dataframe if "mark" in table.value]
    assert not any(word in str(costs).lower() for word in ("recommend", "рекоменд"))


@pytest.mark.usefixtures("database")
def test_what_is_missing_from_a_table_is_a_dash(page: Page) -> None:
    tables = page("usage", "product", PERIOD).dataframe
    assert [table.proto.placeholder for table in tables] == [formats.NOTHING]


@pytest.mark.usefixtures("database")
def test_the_tokens_of_performance_follow_the_language(page: Page) -> None:
    tokens = [table.value for table in page("performance", "product", PERIOD | {"lang": "en"}).dataframe]
    assert [list(table["tokens"]) for table in tokens if "tokens" in table] == [[20, 200]]


@pytest.mark.usefixtures("database")
def test_quality_shows_the_run_of_the_link(page: Page) -> None:
    app = page("quality", "product", PERIOD | {"run": str(run_id(2)), "lang": "ru"})
    assert [element.label for element in app.metric] == [f"recall@4 · {EN['lang.ru']}"]
    assert app.metric[0].value == "0.780"
    assert EN["quality.verdict_checkpoint"] in _badges(app)


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("ui", ["en", "ru"])
def test_quality_draws_growth_and_gate_with_their_tables(page: Page, ui: Lang) -> None:
    words = texts.catalogue(ui)
    app = page("quality", "product", PERIOD | {"run": str(run_id(2)), "ui": ui})
    assert not app.exception
    assert {f"{words[key]} · retrieval" for key in ("quality.growth", "gate.title", "gate.reliability")} <= {
        element.value for element in app.subheader
    }
    tables = [table.value for table in app.dataframe]
    (grown,) = [table for table in tables if "documents" in table]
    assert {34, 70} <= set(grown["documents"])
    (costs,) = [table for table in tables if "mark" in table]
    assert list(costs["mark"]) == [words["gate.in_force"]] * 3 + [words["gate.at_limit"]] * 3
    lost = words["card.counts"].format(part=2, whole=6)
    assert str(costs["lost"].iloc[0]).startswith(lost)
    assert len(_csv_buttons(app)) == 6


@pytest.mark.usefixtures("database")
def test_quality_says_what_a_run_leaves_open(page: Page) -> None:
    app = page("quality", "product", PERIOD | {"run": str(run_id(2))})
    assert any(element.value.startswith("The best score of 1 unanswerable questions") for element in app.caption)
    app = page("quality", "product", PERIOD | {"run": str(run_id(3))})
    assert EN["gate.empty"] in _badges(app)


@pytest.mark.usefixtures("database")
def test_quality_says_which_run_was_recorded_elsewhere(page: Page) -> None:
    app = page("quality", "product", PERIOD)
    assert EN["quality.elsewhere"] in _badges(app)
    (line,) = [element.value for element in app.caption if element.value.startswith("Measured on 2001-03-20")]
    assert "33333333" in line
    assert "cccccccccccc" in line
    assert "here since 2001-03-22 09:30" in line
    assert EN["quality.measured_elsewhere"] in app.selectbox(key="link_run").options[0]
    app = page("quality", "product", PERIOD | {"run": str(run_id(2))})
    assert EN["quality.elsewhere"] not in _badges(app)


def test_quality_says_when_a_run_is_of_another_corpus(page: Page, database: ConnectionUrls) -> None:
    with owner_connection(database.admin) as owner:
        before = owner.execute(sa.select(schema.corpus_state)).mappings().all()
        owner.execute(sa.delete(schema.corpus_state))
    stored = {"documents": 4, "chunks": 9, "spaces": ["use"], "seeded_at": datetime(2001, 3, 1, tzinfo=UTC)}
    try:
        for digest, told in (("d" * 64, 1), ("c" * 64, 0)):
            with owner_connection(database.admin) as owner:
                owner.execute(sa.delete(schema.corpus_state))
                owner.execute(sa.insert(schema.corpus_state), stored | {"hash": digest})
            data.refresh()
            infos = [element.value for element in page("quality", "product", PERIOD).info]
            assert len(infos) == told
            assert all("93 documents" in info and "4 documents" in info for info in infos)
    finally:
        with owner_connection(database.admin) as owner:
            owner.execute(sa.delete(schema.corpus_state))
            if before:
                owner.execute(sa.insert(schema.corpus_state), [dict(row) for row in before])


@pytest.mark.usefixtures("database")
def test_a_period_without_a_run_shows_the_newest_one_there_is(page: Page) -> None:
    app = page("quality", "product", PERIOD | {"from": "1999-01-01", "to": "1999-01-31"})
    assert any("Below stands the newest run there is, of" in element.value for element in app.caption)
    assert app.metric
    assert f"{EN['quality.growth']} · retrieval" in {element.value for element in app.subheader}


@pytest.mark.usefixtures("database")
def test_a_choice_goes_into_the_link_and_over_to_the_next_page(page: Page) -> None:
    app = page(None, "admin", PERIOD)
    app.selectbox(key="filter_lang").set_value("ru").run()
    assert _query(app) == PERIOD | {"lang": "ru"}
    app.switch_page("../pages/usage.py").run()
    assert app.title[0].value == EN["usage.title"]
    assert app.selectbox(key="filter_lang").value == "ru"
    assert _query(app) == PERIOD | {"lang": "ru"}
    assert app.session_state[_SAVED].lang == "ru"


@pytest.mark.usefixtures("database")
def test_the_link_holds_values_not_labels(page: Page) -> None:
    app = page("usage", "admin")
    app.selectbox(key="filter_chat").set_value("medical").run()
    app.pills(key="filter_origins").set_value(["app", "test_chat"]).run()
    assert _query(app) == {"chat": "medical", "origin": "app,test_chat"}


@pytest.mark.usefixtures("database")
def test_the_last_origin_cannot_be_taken_away(page: Page) -> None:
    app = page("usage", "admin", PERIOD)
    app.pills(key="filter_origins").set_value([]).run()
    assert app.pills(key="filter_origins").value == ["app"]


@pytest.mark.parametrize(
    ("url", "key"),
    [
        (None, "data.no_url"),
        ("postgresql+psycopg://anamnesis_console:x@127.0.0.1:1/anamnesis", "data.unreachable"),
    ],
)
@pytest.mark.parametrize("name", DATA_PAGES)
def test_no_database_is_one_clear_line(
    page: Page, name: str, url: str | None, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if url:
        monkeypatch.setenv("ANAMNESIS_CONSOLE_URL", url)
    app = page(name, "admin")
    assert [element.value for element in app.error] == [EN[key]]
    assert not app.exception


def _metric(app: AppTest, label: str) -> str:
    (found,) = [element.value for element in app.metric if element.label == label]
    return str(found)


def _badges(app: AppTest) -> str:
    return " ".join(element.value for element in app.markdown)


def _csv_buttons(app: AppTest) -> list[object]:
    return list(app.get("download_button"))


def _query(app: AppTest) -> dict[str, str]:
    query: dict[str, str | list[str]] = dict(app.query_params)
    return {key: value if isinstance(value, str) else value[0] for key, value in query.items() if key != "ui"}

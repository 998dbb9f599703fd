"""Benchmarks: what they measure is what they say, on data small enough for a test."""

import json
from collections.abc import Callable

import numpy as np
import pytest
import sqlalchemy as sa

from engine.cli.errors import run_guarded
from engine.cli.main import app
from engine.evaluation.bench.compare import Request, compare
from engine.evaluation.bench.corpus import sample
from engine.evaluation.bench.loading import load
from engine.evaluation.bench.personal import recall
from engine.evaluation.bench.scratch import PREFIX, scratch_database
from engine.evaluation.bench.synthetic import CLOSENESS, Synthetic
from engine.evaluation.bench.timing import StatementClock, spread
from engine.evaluation.errors import EvaluationError
from engine.evaluation.sets import resolve_sets
from engine.settings import Settings
from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import admin_connection, owner_connection
from engine.storage.search_store import search
from engine.storage.sessions import Database
from engine.text.lexemes import query_terms, stem

SPACES = {"bench8": 8, "bench5": 5}
Command = Callable[..., tuple[int, str, str]]


def data(seed: int = 3) -> Synthetic:
    return Synthetic(SPACES, chunks=400, users=12, seed=seed)


def benches(admin_url: str) -> list[str]:
    with admin_connection(admin_url) as connection:
        names = connection.execute(sa.text("SELECT datname FROM pg_database")).scalars()
        return [name for name in names if name.startswith(PREFIX)]


def test_a_spread_of_nothing_is_told_and_not_a_number() -> None:
    with pytest.raises(EvaluationError, match="Nothing was timed"):
        spread([])
    assert (spread([1.0]).p50, spread([1.0]).p95) == (1.0, 1.0)
    assert spread([float(number) for number in range(101)]).p95 == 95.0


def test_the_sample_is_the_same_for_the_same_seed_and_never_longer_than_the_set() -> None:
    questions = resolve_sets(["retrieval"])[0]
    assert sample(questions, 20, 1) == sample(questions, 20, 1) != sample(questions, 20, 2)
    assert len(sample(questions, 10**6, 1)) == len(questions.cases)


def test_made_up_notes_are_the_same_for_the_same_seed() -> None:
    one, other, third = data().notes(5), data().notes(5), data(4).notes(5)
    assert (one.ids, one.texts) == (other.ids, other.texts)
    assert all(np.array_equal(one.vectors[space], other.vectors[space]) for space in SPACES)
    assert one.ids != third.ids


def test_everybody_has_a_note_and_all_notes_are_there() -> None:
    made = data()
    assert sum(made.sizes) == 400
    assert min(made.sizes) >= 1
    assert len({data().notes(user).user for user in range(12)}) == 12


def test_notes_lie_around_the_middle_of_their_topics() -> None:
    made = data()
    notes = made.notes(int(np.argmax(made.sizes)))
    for vectors in notes.vectors.values():
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
        for topic in set(notes.topic.tolist()):
            near = vectors[notes.topic == topic]
            assert np.mean(near @ near[0]) > CLOSENESS**2 - 0.35


def test_questions_are_on_the_users_topics_or_off_all_of_them() -> None:
    made = data()
    for asked in made.questions(30, own_topic=True):
        notes = made.notes(asked.user)
        assert max(float((vectors @ asked.vectors[space][0]).max()) for space, vectors in notes.vectors.items()) > 0.2
    own, other = ([question.words for question in made.questions(5, own_topic=kind)] for kind in (True, False))
    assert own != other


def test_two_words_are_two_stems() -> None:
    vocabulary = data().vocabulary
    assert len({stem(word) for word in vocabulary}) == len(vocabulary)


async def test_what_is_loaded_is_what_was_made_up(urls: ConnectionUrls) -> None:
    made = data()
    with scratch_database(urls) as place:
        users = load(place.admin, made, SPACES)
        database = Database(place.engine)
        for number in (0, 7):
            notes = made.notes(number)
            terms = query_terms([[word] for word in dict.fromkeys(notes.texts[0].split()[:3])])
            vectors = {space: notes.vectors[space][0].tolist() for space in SPACES}
            async with database.transaction(users[number]) as connection:
                found = {item.chunk: item for item in await search(connection, "personal", vectors, terms, 500)}
            assert set(found) == {str(chunk) for chunk in notes.ids}
            same = found[str(notes.ids[0])]
            assert same.content == notes.texts[0]
            assert same.cosine == pytest.approx((1.0, 1.0), abs=1e-5)
            assert same.coverage == pytest.approx(1.0)
            assert same.unknown == 0
        with owner_connection(place.admin) as connection:
            indexed = connection.execute(
                sa.text("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%USING gin%' AND tablename ~ '^chunk_p'")
            ).scalar_one()
        await database.close()
    assert indexed == 32  # the index that was dropped for loading is back on every partition


async def test_lost_rows_lower_the_recall(urls: ConnectionUrls) -> None:
    made = data()
    asked = made.questions(1, own_topic=False)[0]
    with scratch_database(urls) as place:
        users = load(place.admin, made, SPACES)
        database = Database(place.engine)
        vectors = {space: of[0].tolist() for space, of in asked.vectors.items()}
        async with database.transaction(users[asked.user]) as connection:
            found = await search(connection, "personal", vectors, (), 100)
        await database.close()
    assert recall(made, asked, found) == {"bench8": 1.0, "bench5": 1.0}
    assert all(share < 1.0 for share in recall(made, asked, found[: len(found) // 2]).values())
    assert set(recall(made, asked, []).values()) == {0.0}


async def test_product_and_bare_sql_are_asked_alike(urls: ConnectionUrls) -> None:
    made = data()
    seen: list[int] = []
    with scratch_database(urls) as place:
        users = load(place.admin, made, SPACES)
        requests = [
            Request(
                {space: of[0].tolist() for space, of in asked.vectors.items()},
                tuple(query_terms([[word] for word in asked.words])),
                users[asked.user],
            )
            for asked in made.questions(4, own_topic=True)
        ]
        product, owner = Database(place.engine), Database(place.admin)
        try:
            times = await compare(product, owner, requests, 20, seen=lambda place, _: seen.append(place))
        finally:
            await product.close()
            await owner.close()
    assert seen == [0, 1, 2, 3]
    assert {times.product.n, times.without_words.n, times.bare.n} == {4}
    assert times.ratio_p50 == pytest.approx(times.product.p50 / times.bare.p50, abs=0.01)


def test_what_a_killed_run_left_goes_and_what_another_run_holds_stays(urls: ConnectionUrls) -> None:
    left = PREFIX + "left"
    with admin_connection(urls.admin) as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(f"CREATE DATABASE {left}")
    with scratch_database(urls) as one, scratch_database(urls) as two:
        names = [str(sa.engine.make_url(place.admin).database) for place in (one, two)]
        assert sorted(benches(urls.admin)) == sorted(names)
    assert benches(urls.admin) == []


def test_a_database_is_dropped_when_its_run_fails(urls: ConnectionUrls) -> None:
    with pytest.raises(KeyboardInterrupt), scratch_database(urls):
        raise KeyboardInterrupt
    assert benches(urls.admin) == []


async def test_a_clock_times_the_statements_of_a_kind_alone(urls: ConnectionUrls) -> None:
    database = Database(urls.engine)
    with StatementClock({"/* slow */": "slow"}) as clock:
        async with database.transaction() as connection:
            await connection.execute(sa.text("SELECT 1"))
            assert clock.take() == {}
            await connection.execute(sa.text("SELECT pg_sleep(0.05) /* slow */"))
        assert clock.take()["slow"] >= 45
    async with database.transaction() as connection:
        await connection.execute(sa.text("SELECT 1 /* slow */"))
    assert clock.take() == {}
    await database.close()


@pytest.fixture
def command(
    settings: Settings, seeded: ConnectionUrls, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Run `anamnesis bench …` on the test database; exit code, standard output, standard error."""
    monkeypatch.setenv("ANAMNESIS_STATE_DIR", str(settings.state_dir))
    monkeypatch.setenv("COLUMNS", "160")

    def run(*arguments: object) -> tuple[int, str, str]:
        words = ["bench", *map(str, arguments)]
        code = run_guarded(lambda: app(words, standalone_mode=False), debug=False)
        return code, *capfd.readouterr()

    return run


SMALL = ("--questions", 3, "--chunks", 60, "--users", 4)


def test_the_figures_for_machines(command: Command) -> None:
    code, out, err = command("retrieval", *SMALL, "--json")
    assert (code, out.count("\n")) == (0, 1), err
    told = json.loads(out)
    stages = list(told["corpus"]["stages"])
    assert stages == [
        "encode use512",
        "encode nano384",
        "vocabulary look-up",
        "search statement",
        "cosines statement",
        "reading the question, in all",
        "encoding, searching and ranking, in all",
        "total",
    ]
    assert all(of["n"] == 3 for of in told["corpus"]["stages"].values())
    assert told["personal"]["recall"]["other_topic"]["use512"] == {"mean": 1.0, "worst": 1.0}
    assert told["personal"]["other_topic"]["ratio_p50"] > 0


def test_people_see_tables(command: Command) -> None:
    code, out, _ = command("retrieval", *SMALL)
    assert code == 0
    assert "search / bare" in out
    assert "recall@20, other topic" in out
    code, out, _ = command("retrieval", "--questions", 2, "--chunks", 0)
    assert code == 0
    assert "made-up" not in out


def test_sameness_is_told(command: Command) -> None:
    code, out, _ = command("retrieval", "--determinism", "--questions", 2, "--runs", 2, "--json")
    assert code == 0
    assert (json.loads(out)["same"], json.loads(out)["differences"]) == (True, [])


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["retrieval", "--chunks", 10, "--users", 11], "name no more users than chunks"),
        (["retrieval", "--questions", 0], "--questions"),
        (["retrieval", "--runs", 1, "--determinism"], "--runs"),
    ],
)
def test_what_is_asked_wrongly_is_told_in_one_line(command: Command, arguments: list[object], line: str) -> None:
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert line in err.splitlines()[-1]

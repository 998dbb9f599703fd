"""Running a set: what is asked, in which order results stand, and what a crash does."""

import asyncio

from engine.evaluation.runner import EVERYTHING, each_case, run_set
from engine.evaluation.sets import Case
from engine.wire import Turn
from tests.evaluation.stand_in import StandIn, answerable_set, asked, none_set, off_corpus

LEFT_FOOT = [("tsh", 0.9), ("ferritin", 0.5), ("hba1c", 0.2)]


async def test_one_request_past_the_gate_tells_the_ranking_and_what_the_chat_would_do() -> None:
    engine = StandIn({"weak": [("tsh", 0.3), ("ferritin", 0.2)]})
    (result,) = await run_set(answerable_set(asked("weak", "ferritin")), engine)
    assert [(request.k, request.min_score) for request in engine.requests] == [(EVERYTHING, 0.0)]
    assert (result.scores["recall@4"], result.scores["mrr"]) == (1.0, 0.5)
    assert result.scores["false_abstention"] == 1.0


async def test_an_answer_says_what_was_found_and_what_was_right() -> None:
    (result,) = await run_set(answerable_set(asked("q", "ferritin")), StandIn({"q": LEFT_FOOT}))
    assert result.answer["topics"] == ["ferritin"]
    assert [(found["document"], found["right"]) for found in result.answer["hits"]] == [
        ("tsh.en", False),
        ("ferritin.en", True),
        ("hba1c.en", False),
    ]


async def test_where_nothing_is_found_the_gate_is_not_asked() -> None:
    engine = StandIn({"q": []})
    (result,) = await run_set(answerable_set(asked("q", "ferritin")), engine)
    assert len(engine.requests) == 1
    assert result.scores == {
        "recall@4": 0, "recall@5": 0, "precision@1": 0, "precision@3": 0, "precision@5": 0, "mrr": 0,
        "false_abstention": 1,
    }  # fmt: skip


async def test_an_unanswerable_question_is_judged_by_the_engines_own_gate_and_keeps_its_best_score() -> None:
    engine = StandIn({"cat": [("tsh", 0.1)], "dog": [("tsh", 0.8)]})
    results = await run_set(none_set(off_corpus("cat"), off_corpus("dog")), engine)
    assert [(request.k, request.min_score) for request in engine.requests] == [(EVERYTHING, 0.0)] * 2
    assert [result.scores for result in results] == [{"abstention": 1.0}, {"abstention": 0.0}]
    assert results[1].answer["hits"] == [{"document": "tsh.en", "score": 0.8}]
    assert [result.answer["top_score"] for result in results] == [0.1, 0.8]


async def test_a_crash_is_a_result_without_scores_and_without_the_exceptions_text() -> None:
    engine = StandIn({"a": LEFT_FOOT, "b": RuntimeError("secret words"), "c": LEFT_FOOT})
    results = await run_set(answerable_set(*(asked(name, "tsh") for name in "abc")), engine)
    assert [result.error for result in results] == [None, "RuntimeError", None]
    assert results[1].scores == {}
    assert "secret" not in repr(results)


async def test_a_dialogue_is_asked_with_its_history() -> None:
    history = (Turn(role="user", text="ferritin"), Turn(role="assistant", text="A protein."))
    case = asked("q", "ferritin").model_copy(update={"history": history})
    engine = StandIn({"q": LEFT_FOOT})
    (result,) = await run_set(answerable_set(case), engine)
    assert [tuple(request.history) for request in engine.requests] == [history]
    assert result.answer["after"] == ["ferritin"]
    unanswerable = off_corpus("q").model_copy(update={"history": history})
    await run_set(none_set(unanswerable), engine)
    assert tuple(engine.requests[-1].history) == history


async def test_a_question_alone_is_asked_without_a_history() -> None:
    engine = StandIn({"q": LEFT_FOOT})
    (result,) = await run_set(answerable_set(asked("q", "ferritin")), engine)
    assert all(request.history == [] for request in engine.requests)
    assert "after" not in result.answer


async def test_results_stand_in_the_order_of_the_set_and_few_run_at_once() -> None:
    names = [f"q{number}" for number in range(40)]
    engine = StandIn(dict.fromkeys(names, LEFT_FOOT))
    eval_set = answerable_set(*(asked(name, "tsh") for name in names))
    results = await run_set(eval_set, engine, concurrency=3)
    assert [result.case_id for result in results] == names
    assert engine.most_running == 3


async def test_progress_counts_up_to_all_of_them() -> None:
    told: list[tuple[str, int, int]] = []
    names = ["a", "b", "c"]
    eval_set = none_set(*(off_corpus(name) for name in names))
    await run_set(eval_set, StandIn({name: [] for name in names}), progress=lambda *step: told.append(step))
    assert told == [("expect_none", 1, 3), ("expect_none", 2, 3), ("expect_none", 3, 3)]


async def test_a_cancelled_run_stops_and_is_no_crash_of_a_case() -> None:
    begun = asyncio.Event()

    async def forever(_: Case) -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(each_case(none_set(off_corpus("a")), forever))
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()

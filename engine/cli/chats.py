"""Commands that ask the engine in-process: `ask` and `retrieve`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine.app import Engine, build_engine, connect
from engine.cli.batch import Model, Result, describe_fault, emit, run_batch
from engine.cli.errors import WrongUseError
from engine.cli.options import AsJson
from engine.settings import Settings, load_settings
from engine.text.normalise import normalise
from engine.wire import AskRequest, AskResponse, ChatName, RetrieveRequest, RetrieveResponse
from engine.wire.fields import Lang

ASK_EXAMPLES = """Example: anamnesis ask "Что показывает ферритин?"

A follow-up, one line on standard input: {"question": "And what lowers it?",
"history": [{"role": "user", "text": "What does ferritin show?"}]}"""

LangOption = Annotated[Lang | None, typer.Option(help="Language of the reader; by default the question's.")]


@asynccontextmanager
async def running_engine(settings: Settings) -> AsyncIterator[Engine]:
    """An engine that is ready to answer, on the embedded server unless settings name another."""
    engine = build_engine(settings, connect(settings))
    try:
        await engine.ready()
        yield engine
    finally:
        await engine.close()


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""

    @app.command(epilog=ASK_EXAMPLES)
    def ask(
        question: Annotated[
            str | None, typer.Argument(help="A question; without it JSON Lines are read from standard input.")
        ] = None,
        chat: ChatName = "auto",
        user: Annotated[str | None, typer.Option(help="Whose question it is; it is then kept in that history.")] = None,
        lang: LangOption = None,
        as_json: AsJson = False,
    ) -> None:
        """Ask the medical chat."""
        one = None if question is None else _one(AskRequest, question=question, chat=chat, user=user, lang=lang)
        if one is not None:
            _require_words("question", one.question)

        async def run() -> None:
            async with running_engine(load_settings()) as engine:

                async def answer(request: AskRequest) -> Result:
                    _require_words("question", request.question)
                    return (await engine.ask(request, origin="cli")).model_dump()

                if one is None:
                    await run_batch(AskRequest, answer)
                elif as_json:
                    emit({"id": None, **await answer(one)})
                else:
                    show_answer(await engine.ask(one, origin="cli"))

        asyncio.run(run())

    @app.command(epilog='Example: anamnesis retrieve "сахар за три месяца"')
    def retrieve(
        query: Annotated[
            str | None, typer.Argument(help="A query; without it JSON Lines are read from standard input.")
        ] = None,
        k: int = 8,
        min_score: Annotated[float | None, typer.Option(help="Relevance threshold; 0 bypasses the gate.")] = None,
        lang: LangOption = None,
        as_json: AsJson = False,
    ) -> None:
        """Show what the corpus holds on a question."""
        one = None if query is None else _one(RetrieveRequest, query=query, k=k, min_score=min_score, lang=lang)
        if one is not None:
            _require_words("query", one.query)

        async def run() -> None:
            async with running_engine(load_settings()) as engine:

                async def search(request: RetrieveRequest) -> Result:
                    _require_words("query", request.query)
                    return (await engine.retrieve(request)).model_dump()

                if one is None:
                    await run_batch(RetrieveRequest, search)
                elif as_json:
                    emit({"id": None, **await search(one)})
                else:
                    show_hits(await engine.retrieve(one))

        asyncio.run(run())


def show_answer(answer: AskResponse) -> None:
    """Text, sources and how long it took."""
    console = Console()
    console.print(Text(answer.text))
    if answer.citations:
        console.print()
        for citation in answer.citations:
            console.print(Text(f"[{citation.n}] {citation.title}  {citation.url}", style="dim"))
    total = sum(stage.ms for stage in answer.trace.stages)
    console.print(Text(f"{answer.outcome} · {answer.lang} · {total:.0f} ms", style="dim"))


def show_hits(found: RetrieveResponse) -> None:
    """Ranked documents as a table."""
    table = Table("#", "document", "score", "dense", "lexical", "content")
    for hit in found.hits:
        ranks = (str(rank) if rank is not None else "–" for rank in (hit.dense_rank, hit.lexical_rank))
        table.add_row(str(hit.rank), hit.document, f"{hit.score:.3f}", *ranks, Text(hit.content[:160]))
    console = Console()
    console.print(table)
    console.print(f"{found.gated} under the threshold" + (" · the medical chat would abstain" if found.abstain else ""))


def _one(model: type[Model], **fields: object) -> Model:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise WrongUseError(describe_fault(error)) from None


def _require_words(field: str, text: str) -> None:
    """Nothing but spaces and invisible characters is a slip of whoever calls, not a question without an answer."""
    if not normalise(text):
        raise WrongUseError(f"{field}: it is empty")

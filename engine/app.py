"""The only place where things are wired: settings in, a working engine out."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from engine.chat.answer.base import Answerer
from engine.chat.answer.extractive import ExtractiveAnswerer
from engine.chat.answer.llm import ModelAnswerer
from engine.chat.medical import MedicalRoom, answer_medical
from engine.chat.outcome import Ending
from engine.chat.router import route
from engine.chat.trace import ChatTrace
from engine.guardrails.injection import sanitise
from engine.guardrails.judge import ModelJudge, NoJudge
from engine.guardrails.output import OutputGuard
from engine.guardrails.refusal import RefusalGate
from engine.guardrails.urgent import UrgentGate
from engine.keys import Keys, load_keys
from engine.knowledge.corpus import DEFAULT_CORPUS, load_corpus
from engine.knowledge.seeding import Progress, SeedReport, space_mismatch
from engine.knowledge.seeding import seed as seed_documents
from engine.models.base import Embedder
from engine.models.registry import answering_model, embedders, judging_model
from engine.retrieval.gate import gate
from engine.retrieval.query import has_words
from engine.retrieval.search import CorpusSearch
from engine.settings import Settings
from engine.storage.corpus_store import CorpusState
from engine.storage.embedded import ConnectionUrls, EmbeddedPostgres, default_state_dir
from engine.storage.errors import StorageError
from engine.storage.query_log import HistoryRecord, QueryRecord, write
from engine.storage.schema import corpus_state
from engine.storage.sessions import Database, tenant_id
from engine.telemetry.hashing import query_hash
from engine.text.language import detect
from engine.wire import AskRequest, AskResponse, Hit, Origin, RetrieveRequest, RetrieveResponse


class NotSeededError(StorageError):
    """The database holds no corpus, or one of other models than the active ones."""


class Engine:
    """Answers questions and retrieves; safe for concurrent use within one event loop."""

    def __init__(
        self, database: Database, room: MedicalRoom, models: dict[str, str], spaces: tuple[str, ...], hash_key: bytes
    ) -> None:
        self.database = database
        self._room = room
        self._models = models
        self._spaces = spaces
        self._hash_key = hash_key

    async def ask(self, request: AskRequest, *, origin: Origin) -> AskResponse:
        """Answer one question and log it without its text.

        Raises:
            StorageError: the database refused or could not be reached.
            ChatUnavailableError: the chat that was named is not part of this version.
        """
        trace = ChatTrace()
        lang = request.lang or detect(request.question, "ru")
        chat = route(request)
        user = tenant_id(request.user) if request.user is not None else None
        ending = await answer_medical(request, lang, self._room, trace)
        response = AskResponse(
            outcome=ending.outcome,
            text=ending.text,
            final_text=ending.final_text,
            lang=lang,
            chat=chat,
            citations=list(ending.citations),
            guardrail=ending.guardrail,
            trace=trace.to_wire(),
        )
        record = self._record(request, response, ending, trace, origin)
        history = None
        if user is not None:
            history = HistoryRecord(
                user_id=user,
                at=record.at,
                chat=chat,
                question=request.question,
                answer=ending.text,
                outcome=ending.outcome,
                citations=[citation.model_dump() for citation in ending.citations],
            )
        async with self.database.transaction(user) as connection:
            await write(connection, record, history)
        return response

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResponse:
        """Ranked documents for a question, one hit a document, language twins once.

        Raises:
            StorageError: the database refused or could not be reached.
            ChatUnavailableError: the personal chat was named.
        """
        route(AskRequest(question=request.query, chat=request.chat))
        if not has_words(request.query):
            return RetrieveResponse(hits=[], gated=0, abstain=True, timings_ms={})
        search, trace = self._room.search, ChatTrace()
        with trace.stage("query"):
            query = await search.query(request.query)
        with trace.stage("search"):
            found = await search.find(query, request.lang or detect(request.query, "ru"))
        threshold = search.threshold if request.min_score is None else request.min_score
        gated = gate(found.documents, threshold)
        hits = [
            Hit(
                rank=rank,
                document=item.best.candidate.document,
                topic=item.best.candidate.topic,
                title=item.best.candidate.title,
                lang=item.best.candidate.lang,
                chunk=item.best.candidate.chunk,
                score=item.score,
                rrf=item.best.rrf,
                dense_rank=item.best.dense_rank,
                lexical_rank=item.best.lexical_rank,
                content=item.best.candidate.content,
            )
            for rank, item in enumerate(gated.kept[: request.k], start=1)
        ]
        timings = {stage.name: stage.ms for stage in trace.stages}
        return RetrieveResponse(hits=hits, gated=gated.cut, abstain=gated.abstain, timings_ms=timings)

    async def corpus_state(self) -> CorpusState:
        """Hash and size of the stored corpus.

        Raises:
            NotSeededError: nothing was seeded yet.
        """
        columns = corpus_state.c
        async with self.database.transaction() as connection:
            row = (
                await connection.execute(sa.select(columns.hash, columns.documents, columns.chunks, columns.spaces))
            ).one_or_none()
        if row is None:
            raise NotSeededError("The database holds no corpus. Run `anamnesis seed`.")
        return CorpusState(*row)

    async def ready(self) -> None:
        """Return when a question can be answered.

        Raises:
            StorageError: the database is down, not migrated, not seeded, or was embedded by other models.
        """
        state = await self.corpus_state()
        if not set(self._spaces) <= set(state.spaces):
            raise NotSeededError(space_mismatch(state.spaces, self._spaces))

    def describe(self) -> dict[str, str]:
        """The active models by their part."""
        return dict(self._models)

    async def close(self) -> None:
        await self.database.close()

    def _record(
        self, request: AskRequest, response: AskResponse, ending: Ending, trace: ChatTrace, origin: Origin
    ) -> QueryRecord:
        stages: list[dict[str, Any]] = [{"name": stage.name, "ms": stage.ms} for stage in trace.stages]
        return QueryRecord(
            at=datetime.now(UTC),
            query_hash=query_hash(request.question, self._hash_key),
            origin=origin,
            chat=response.chat,
            lang=response.lang,
            outcome=response.outcome,
            kind=ending.kind,
            guardrail_status=response.guardrail.status,
            judge=response.guardrail.judge,
            rule_ids=response.guardrail.rule_ids,
            shadow_rule_ids=trace.shadow_rule_ids,
            hits=trace.hits,
            citations=len(response.citations),
            top_score=trace.top_score,
            total_ms=trace.total_ms,
            stages=stages,
            tokens=trace.tokens,
            models=trace.models,
        )


def state_dir(settings: Settings) -> Path:
    """Where the embedded server, keys and logs live."""
    return settings.state_dir or default_state_dir()


def has_own_database(settings: Settings) -> bool:
    """Whether settings name a server, so that none is started."""
    return any((settings.admin_url, settings.engine_url, settings.console_url))


def connect(settings: Settings) -> ConnectionUrls:
    """The three connections: those of the settings, else of the embedded server, which is started if it is not running.

    Raises:
        StorageError: some of the three URLs are set and some are not.
        EmbeddedPostgresError: the embedded server could not be started.
    """
    if not has_own_database(settings):
        return EmbeddedPostgres(state_dir(settings)).start()
    urls = {"admin": settings.admin_url, "engine": settings.engine_url, "console": settings.console_url}
    missing = [f"ANAMNESIS_{name.upper()}_URL" for name, url in urls.items() if url is None]
    if missing:
        raise StorageError(f"With a database of your own all three URLs are settings; missing: {', '.join(missing)}.")
    return ConnectionUrls(**{name: url.get_secret_value() for name, url in urls.items() if url is not None})


def keys(settings: Settings) -> Keys:
    """The secrets of this deployment. Raises KeysError."""
    return load_keys(settings, None if has_own_database(settings) else state_dir(settings))


def build_engine(settings: Settings, urls: ConnectionUrls) -> Engine:
    """An engine on a database that is already migrated; models load at their first use."""
    active = embedders(settings)
    answerer = _answerer(settings, active)
    judge_model = judging_model(settings)
    room = MedicalRoom(
        urgent=UrgentGate(),
        refusal=RefusalGate(),
        search=CorpusSearch(
            Database(urls.engine),
            active,
            pool=settings.pool,
            fusion=settings.fusion,
            threshold=settings.relevance_threshold,
        ),
        sanitise=sanitise,
        answerer=answerer,
        output=OutputGuard(),
        judge=ModelJudge(judge_model) if judge_model else NoJudge(),
        judge_closed=settings.judge_fail == "closed",
        region=settings.region,
    )
    models = {embedder.space: embedder.model for embedder in active}
    models |= {"answer": answerer.name, "judge": judge_model.model if judge_model else "off"}
    models |= {"relevance": "mean4 similarity score"}
    spaces = tuple(embedder.space for embedder in active)
    return Engine(room.search.database, room, models, spaces, keys(settings).hash_key)


def seed_corpus(
    settings: Settings,
    urls: ConnectionUrls,
    *,
    reembed: bool = False,
    progress: Progress = lambda done, total: None,
) -> SeedReport:
    """Bring the stored corpus to what stands on disk. Raises CorpusError, SpaceMismatchError, StorageError."""
    documents = load_corpus(settings.corpus_dir or DEFAULT_CORPUS)
    return seed_documents(urls.admin, documents, embedders(settings), reembed=reembed, progress=progress)


def _answerer(settings: Settings, active: tuple[Embedder, ...]) -> Answerer:
    extractive = ExtractiveAnswerer(active[0])
    model = answering_model(settings)
    return ModelAnswerer(model, extractive) if model else extractive

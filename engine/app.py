"""The only place where things are wired: settings in, a working engine out."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path

from engine.chat.answer.base import Answerer
from engine.chat.answer.extractive import ExtractiveAnswerer
from engine.chat.answer.llm import ModelAnswerer
from engine.chat.medical import MedicalRoom, answer_medical
from engine.chat.record import history_record, query_record
from engine.chat.router import route
from engine.chat.trace import ChatTrace
from engine.guardrails.classifier import OUTPUT, REFUSAL, URGENT, reader
from engine.guardrails.injection import sanitise
from engine.guardrails.judge import ModelJudge, NoJudge
from engine.guardrails.output import OutputGuard
from engine.guardrails.refusal import RefusalGate
from engine.guardrails.urgent import UrgentGate
from engine.keys import Keys, load_keys
from engine.knowledge.corpus import DEFAULT_CORPUS, load_corpus
from engine.knowledge.reembedding import reembed as reembed_documents
from engine.knowledge.seeding import Progress, SeedReport, corpus_hash, embedded_texts, space_mismatch
from engine.knowledge.seeding import seed as seed_documents
from engine.models.base import Embedder
from engine.models.embedding import shipped
from engine.models.embedding.recent import RecentQueries
from engine.models.embedding.use import UniversalSentenceEncoder
from engine.models.registry import answering_model, embedders, judging_model, reranker
from engine.retrieval.calibrated import is_guessed
from engine.retrieval.follow_up_words import words
from engine.retrieval.gate import gate
from engine.retrieval.query import has_topic
from engine.retrieval.search import CorpusSearch, SearchOptions
from engine.retrieval.training import Passage
from engine.settings import Settings
from engine.storage.corpus_store import CorpusState, read_state
from engine.storage.embedded import ConnectionUrls, EmbeddedPostgres, default_state_dir
from engine.storage.errors import NotSeededError, OtherVectorsError, StorageError
from engine.storage.query_log import write as write_record
from engine.storage.sessions import Database, tenant_id
from engine.telemetry.hashing import query_hash
from engine.text.language import detect
from engine.text.sentences import split_sentences
from engine.wire import AskRequest, AskResponse, Hit, Origin, RetrieveRequest, RetrieveResponse

log = logging.getLogger(__name__)

WARM_UP = (
    "Какая норма ферритина, если утром болит голова и поднялась температура 38,5, а вчера было хорошо?",
    "What does it mean that my chest was tight, I could not breathe well and took 2 tablets last night?",
)
"""Messages that make the rules build their automata and the encoders load before the first person asks."""


VECTORS = "vectors"
"""Folder within the corpus: vectors that are shipped with it."""


class Engine:
    """Answers questions and retrieves; safe for concurrent use within one event loop."""

    def __init__(
        self, database: Database, room: MedicalRoom, embedders: tuple[Embedder, ...], models: dict[str, str], key: bytes
    ) -> None:
        self.database = database
        self._room = room
        self._embedders = embedders
        self._models = models
        self._key = key
        self._warm = False

    @property
    def search(self) -> CorpusSearch:
        """The medical search, for training and benchmarks."""
        return self._room.search

    @property
    def threshold(self) -> float:
        """The relevance threshold in force."""
        return self._room.search.threshold

    async def ask(self, request: AskRequest, *, origin: Origin) -> AskResponse:
        """Answer one question and log it without its text.

        An answer is never lost to the log: where the record cannot be written the program's log says so.

        Raises:
            StorageError: retrieval was refused by the database or could not reach it.
            ChatUnavailableError: the chat that was named is not part of this version.
        """
        trace = ChatTrace()
        lang = request.lang or detect(request.question, "ru")
        user = tenant_id(request.user) if request.user is not None else None
        ending = await answer_medical(request, lang, self._room, trace)
        response = AskResponse(
            outcome=ending.outcome,
            text=ending.text,
            final_text=ending.final_text,
            lang=lang,
            chat="medical",
            citations=list(ending.citations),
            guardrail=ending.guardrail,
            trace=trace.to_wire(),
        )
        record = query_record(response, trace, query_hash(request.question, self._key), ending.kind, origin)
        history = None if user is None else history_record(user, request.question, response, record.at)
        try:
            async with self.database.transaction(user) as connection:
                await write_record(connection, record, history)
        except StorageError as error:
            log.error("A question could not be logged: %s", error)
        return response

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResponse:
        """Ranked documents for a question, one hit a document, language twins once.

        `abstain` is what the medical chat would do, whatever `min_score` lets pass here.

        Raises:
            StorageError: the database refused or could not be reached.
            ChatUnavailableError: the personal chat was named.
            TenantError: the corpus' sentinel was given as a user.
        """
        route(request.chat)
        if request.user is not None:
            tenant_id(request.user)
        asked = (await self._room.search.complete(request.query, request.history)).text
        if not has_topic(asked):
            return RetrieveResponse(hits=[], gated=0, abstain=True, timings_ms={})
        search, trace = self._room.search, ChatTrace()
        with trace.stage("query"):
            query = await search.query(asked)
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
        abstain = gate(found.documents, search.threshold).abstain
        return RetrieveResponse(hits=hits, gated=gated.cut, abstain=abstain, timings_ms=timings)

    async def corpus_state(self) -> CorpusState:
        """Hash, size and models of the stored corpus.

        Raises:
            NotSeededError: nothing was seeded yet.
        """
        async with self.database.transaction() as connection:
            state = await connection.run_sync(read_state)
        if state is None:
            raise NotSeededError("The database holds no corpus. Run `anamnesis seed`.")
        return state

    async def ready(self) -> None:
        """Return when a question can be answered; the first call loads the models and compiles the rules.

        Raises:
            StorageError: the database is down, not migrated, not seeded, or was embedded by other models.
        """
        state = await self.corpus_state()
        active = {embedder.space: embedder.model for embedder in self._embedders}
        if not active.items() <= state.models.items():
            raise OtherVectorsError(space_mismatch(state.models, active))
        if not self._warm:
            await self._room.search.warm_up()
            for message in WARM_UP:
                await asyncio.to_thread(self._room.urgent.check, message)
                await asyncio.to_thread(self._room.output.check, message)
                await self._room.search.gather(await self._room.search.query(message))
            self._warm = True

    def describe(self) -> dict[str, str]:
        """The active models by their part."""
        return dict(self._models)

    async def close(self) -> None:
        """Let go of connections."""
        await self._room.answerer.close()
        await self._room.judge.close()
        await self.database.close()


def state_dir(settings: Settings) -> Path:
    """Where the embedded server, keys and logs live."""
    return settings.state_dir or default_state_dir()


def corpus_dir(settings: Settings) -> Path:
    """Where the corpus lies: the one that is named, else the shipped one."""
    return settings.corpus_dir or DEFAULT_CORPUS


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
    """An engine on a database that is already migrated; models load at their first use.

    Raises RuleFileError, WordDataError, KeysError, ModelError.
    """
    words()  # a damaged file stops the start, not the first follow-up
    active = tuple(RecentQueries(embedder) for embedder in embedders(settings))
    database = Database(urls.engine)
    judge_model = judging_model(settings)
    answerer = _answerer(settings, active)
    search = CorpusSearch(database, active, _search_options(settings), reranker(settings))
    room = MedicalRoom(
        urgent=urgent_gate(active),
        refusal=refusal_gate(active),
        search=search,
        sanitise=sanitise,
        answerer=answerer,
        output=output_guard(active),
        judge=ModelJudge(judge_model) if judge_model else NoJudge(),
        judge_closed=settings.judge_fail == "closed",
        region=settings.region,
    )
    models = {embedder.space: embedder.model for embedder in active}
    models["relevance"] = search.scorer
    models |= {"answer": answerer.name, "judge": judge_model.model if judge_model else "off"}
    return Engine(database, room, active, models, keys(settings).hash_key)


def urgent_gate(active: Sequence[Embedder]) -> UrgentGate:
    """The urgent gate with its classifier. Raises RuleFileError, ModelError."""
    return UrgentGate(reader=reader(URGENT, _guarding(active)))


def refusal_gate(active: Sequence[Embedder]) -> RefusalGate:
    """The refusal gate with its classifier. Raises RuleFileError, ModelError."""
    return RefusalGate(reader=reader(REFUSAL, _guarding(active)))


def output_guard(active: Sequence[Embedder]) -> OutputGuard:
    """The guard of answers with its classifier, judged or not: a judge that fails must not leave less than none.

    Raises RuleFileError, ModelError.
    """
    return OutputGuard(reader=reader(OUTPUT, _guarding(active)))


def _guarding(active: Sequence[Embedder]) -> tuple[Embedder, ...]:
    """The encoder that the classifiers read by, whatever the search does; of the active ones where it is among them."""
    space = UniversalSentenceEncoder.space
    return tuple(item for item in active if item.space == space) or (_encoder_of_the_guards(),)


@lru_cache(maxsize=1)
def _encoder_of_the_guards() -> Embedder:
    return RecentQueries(UniversalSentenceEncoder())


def seed_corpus(
    settings: Settings,
    urls: ConnectionUrls,
    *,
    reembed: bool = False,
    allow_removal: bool = False,
    progress: Progress = lambda done, total: None,
) -> SeedReport:
    """Bring the stored corpus to what stands on disk; `reembed` changes its models.

    Raises CorpusError, SpaceMismatchError (not with `reembed`), RemovalError (not with `allow_removal`), StorageError.
    """
    corpus = corpus_dir(settings)
    active = [shipped.with_shipped(embedder, corpus / VECTORS) for embedder in embedders(settings)]
    if reembed:
        return reembed_documents(
            urls.admin, lambda: load_corpus(corpus), active, allow_removal=allow_removal, progress=progress
        )
    return seed_documents(urls.admin, load_corpus(corpus), active, allow_removal=allow_removal, progress=progress)


def corpus_on_disk(settings: Settings) -> str:
    """Hash of the corpus on disk, as the stored one has. Raises CorpusError."""
    return corpus_hash(load_corpus(corpus_dir(settings)))


def corpus_passages(settings: Settings) -> list[Passage]:
    """The vectors of all passages of the corpus on disk, for training. Raises CorpusError."""
    corpus = corpus_dir(settings)
    active = [shipped.with_shipped(embedder, corpus / VECTORS) for embedder in embedders(settings)]
    found: list[Passage] = []
    for document in load_corpus(corpus):
        texts, _ = embedded_texts(document)
        by_space = {embedder.space: embedder.passages(texts).tolist() for embedder in active}
        found += [
            Passage(document.topic, {space: rows[at] for space, rows in by_space.items()}) for at in range(len(texts))
        ]
    return found


def corpus_sentences(settings: Settings) -> dict[str, list[str]]:
    """All sentences of the corpus on disk, by language. Raises CorpusError."""
    found: dict[str, list[str]] = {}
    for document in load_corpus(corpus_dir(settings)):
        for text in (paragraph for section in document.sections for paragraph in section.paragraphs):
            found.setdefault(document.lang, []).extend(text[start:end] for start, end in split_sentences(text))
    return found


def corpus_names(settings: Settings) -> list[Passage]:
    """Titles and aliases of the corpus on disk as somebody would ask for them, for training. Raises CorpusError."""
    named = {
        (document.topic, name): None
        for document in load_corpus(corpus_dir(settings))
        for name in (document.title, *document.aliases)
    }
    by_space = {item.space: item.queries([name for _, name in named]).tolist() for item in embedders(settings)}
    return [
        Passage(topic, {space: rows[at] for space, rows in by_space.items()}) for at, (topic, _) in enumerate(named)
    ]


def write_vectors(
    settings: Settings, *, progress: Callable[[str, int, int], None] = lambda space, done, total: None
) -> dict[str, int]:
    """Embed the corpus on disk for whoever starts it first. Returns vectors by space. Raises CorpusError.

    `progress` is told the space, how many of its texts are embedded, and how many there are to embed.
    """
    corpus = corpus_dir(settings)
    texts = [embedded_texts(document) for document in load_corpus(corpus)]
    written = {}
    for embedder in embedders(settings):
        wanted = [text for passages, _ in texts for text in passages]
        wanted += [text for _, sentences in texts for text in sentences] if embedder.sentence_vectors else []
        path = corpus / VECTORS / f"{embedder.space}.npz"
        written[embedder.space] = shipped.write(path, embedder, wanted, progress=partial(progress, embedder.space))
    return written


def threshold_is_guessed(settings: Settings) -> bool:
    """Whether nobody set, learnt or calibrated the relevance threshold for the active models. Raises ModelError."""
    if settings.relevance_threshold is not None or settings.reranker_model:
        return False
    return is_guessed(embedders(settings), settings.fusion)


def _search_options(settings: Settings) -> SearchOptions:
    return SearchOptions(
        pool=settings.pool,
        fusion=settings.fusion,
        languages=settings.languages,
        threshold=settings.relevance_threshold,
        rerank_top=settings.reranker_top,
    )


def _answerer(settings: Settings, active: tuple[Embedder, ...]) -> Answerer:
    extractive = ExtractiveAnswerer(active[0])
    model = answering_model(settings)
    return ModelAnswerer(model, extractive) if model else extractive

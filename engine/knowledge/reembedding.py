"""Change the models of the stored corpus while the former ones serve, and go on after an interruption.

New vectors are written document by document, each in a small transaction, to a table that no search reads
(`knowledge.staged_vector`). When all are there one transaction puts them in the place of the old ones. Whatever ends
the process before that leaves the old ones in force, and the next call embeds only what is missing.

Engines that were started with the former models answer until the switch. After it they must be started anew with the
new ones: a question's vector of the one model says nothing among vectors of the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.engine import Connection

from engine.knowledge.corpus import CorpusDocument
from engine.knowledge.seeding import Progress, SeedReport, corpus_hash, embed, prepare, removed, stored_hash
from engine.models.base import Embedder
from engine.storage import corpus_store as store
from engine.storage import staging_store as staging
from engine.storage.migrate import limit_lock_waits, owner_connection


@dataclass(frozen=True)
class _Work:
    """What is stored, and what is still to be embedded."""

    stored: Mapping[str, str]
    former: Sequence[str]
    """Spaces in force."""
    changed: frozenset[str]
    """Names of documents that are not stored as they stand on disk."""
    missing: Mapping[str, Sequence[Embedder]]
    """Models that a document has still to go through, by its name; documents that are done are not there."""


def reembed(
    admin_url: str,
    load: Callable[[], Sequence[CorpusDocument]],
    embedders: Sequence[Embedder],
    *,
    allow_removal: bool = False,
    progress: Progress = lambda done, total: None,
) -> SeedReport:
    """Give the corpus on disk vectors of these models, and bring its text up to date with it.

    A space that holds vectors of its model already is left as it is while another changes; where none changes all are
    made anew. The corpus is loaded again when all is embedded, and what changed on disk or was stored by others
    meanwhile is embedded before the switch. `progress` counts documents, with those of an interrupted call.

    Users' own vectors: in a space whose model stays they stay. In one whose model changes they go with it, since
    nothing could be compared with them any more; `SeedReport.own_vectors` says how many. The documents and chunks
    behind them stay and are found by their words until they are embedded anew, which is for whoever stores them.

    Raises:
        RemovalError: half of the stored documents or more would go, and nobody allowed it.
        StorageError: the database refused, or another call is at work; the former vectors serve on.
    """
    with staging.only_one(admin_url):
        renewed = _renewed(admin_url, embedders)
        resumed: int | None = None
        while True:
            documents = load()
            with owner_connection(admin_url) as connection:
                work = _work(connection, documents, embedders, renewed)
            names = [document.name for document in documents]
            removed(work.stored, names, allowed=allow_removal, command="reembed")
            if resumed is None:
                resumed = len(documents) - len(work.missing)
            if not work.missing:
                report = _switch(admin_url, documents, load, embedders, renewed, work.changed, resumed)
                if report is not None:
                    break
                continue  # somebody changed it between the two transactions
            done = len(documents) - len(work.missing)
            progress(done, len(documents))
            for document in documents:
                if document.name in work.missing:
                    _stage(admin_url, document, work.missing[document.name])
                    done += 1
                    progress(done, len(documents))
        with owner_connection(admin_url) as connection:
            store.analyse(connection, [embedder.space for embedder in embedders])
    return report


def _renewed(admin_url: str, embedders: Sequence[Embedder]) -> frozenset[str]:
    """Spaces whose vectors are all made anew: those of other models, else every one."""
    with owner_connection(admin_url) as connection:
        state = store.read_state(connection)
    models = {} if state is None else state.models
    others = {embedder.space for embedder in embedders if models.get(embedder.space) != embedder.model}
    return frozenset(others or {embedder.space for embedder in embedders})


def _work(
    connection: Connection,
    documents: Sequence[CorpusDocument],
    embedders: Sequence[Embedder],
    renewed: frozenset[str],
) -> _Work:
    state = store.read_state(connection)
    stored = store.read_hashes(connection)
    staged = {embedder.space: staging.read_staged(connection, embedder.space, embedder.model) for embedder in embedders}
    wanted = {document.name: stored_hash(document) for document in documents}
    changed = frozenset(name for name, digest in wanted.items() if stored.get(name) != digest)
    missing = {
        name: [
            embedder
            for embedder in embedders
            if (embedder.space in renewed or name in changed) and (name, digest) not in staged[embedder.space]
        ]
        for name, digest in wanted.items()
    }
    return _Work(
        stored=stored,
        former=[] if state is None else state.spaces,
        changed=changed,
        missing={name: models for name, models in missing.items() if models},
    )


def _stage(admin_url: str, document: CorpusDocument, embedders: Sequence[Embedder]) -> None:
    """Embed a document, then write its vectors: no connection waits for a model."""
    made = [(embedder, embed(document, embedder)) for embedder in embedders]
    with owner_connection(admin_url) as connection:
        for embedder, (chunks, sentences) in made:
            space = (embedder.space, embedder.model, embedder.dimension)
            staging.stage(connection, space, (document.name, stored_hash(document)), chunks, sentences)


def _switch(
    admin_url: str,
    documents: Sequence[CorpusDocument],
    load: Callable[[], Sequence[CorpusDocument]],
    embedders: Sequence[Embedder],
    renewed: frozenset[str],
    changed: frozenset[str],
    resumed: int,
) -> SeedReport | None:
    """Put the new vectors in force; None where the corpus is not any more what was prepared for."""
    rows = [prepare(item, stored_hash(item), ()) for item in documents if item.name in changed]
    with owner_connection(admin_url) as connection:
        store.lock_corpus(connection)
        limit_lock_waits(connection)
        work = _work(connection, documents, embedders, renewed)
        # Read once more now that nobody else can store: what others stored meanwhile came from there.
        if work.missing or work.changed != changed or corpus_hash(load()) != corpus_hash(documents):
            return None
        gone = sorted(set(work.stored) - {document.name for document in documents})
        store.delete_documents(connection, [*gone, *changed])
        store.insert_documents(connection, rows)
        rooms = {embedder.space: embedder.space for embedder in embedders}
        for embedder in embedders:
            if embedder.space in renewed:
                rooms[embedder.space] = staging.make_room(
                    connection, embedder.space, embedder.dimension, embedder.model
                )
            staging.fill(connection, rooms[embedder.space], embedder.space, embedder.model)
        chunks = store.refresh(connection, corpus_hash(documents), list(rooms), datetime.now(UTC))
        dropped = staging.replaced_spaces(connection, work.former, rooms)
        own_vectors = staging.count_own(connection, dropped)
        staging.forget_staged(connection)
        staging.switch(connection, dropped, rooms)
    known = sum(document.name in work.stored for document in documents)
    return SeedReport(len(documents) - known, known, len(gone), 0, chunks, resumed=resumed, own_vectors=own_vectors)

"""Bring the stored corpus to what stands on disk: changed documents only, in one transaction."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid5

from sqlalchemy.engine import Connection

from engine.knowledge.chunking import CHUNK_SIZE, OVERLAP, Chunk, chunk_sections
from engine.knowledge.corpus import CorpusDocument
from engine.models.base import Embedder, Vectors
from engine.storage import corpus_store as store
from engine.storage.migrate import limit_lock_waits, owner_connection
from engine.storage.schema import GLOBAL_USER_ID
from engine.text.lexemes import content_words, name_key, tsvector
from engine.text.sentences import split_sentences

FORM = f"9:{CHUNK_SIZE}:{OVERLAP}"
"""Changes whenever chunks, lexemes or the embedded text are made in another way, so that all is made anew."""

Progress = Callable[[int, int], None]


class SpaceMismatchError(RuntimeError):
    """The corpus was embedded by other models, or other versions of them, than those that are active."""


class RemovalError(RuntimeError):
    """So much is missing on disk that it was rather lost than deleted."""


@dataclass(frozen=True)
class SeedReport:
    """What seeding did, in documents."""

    added: int
    changed: int
    removed: int
    unchanged: int
    chunks: int
    resumed: int = 0
    """Of a change of models: documents that an earlier call had embedded before it was interrupted."""
    own_vectors: int = 0
    """Of a change of models: vectors of users' own documents that went with their model."""


def seed(
    admin_url: str,
    documents: Sequence[CorpusDocument],
    embedders: Sequence[Embedder],
    *,
    allow_removal: bool = False,
    progress: Progress = lambda done, total: None,
) -> SeedReport:
    """Store the corpus. Unchanged documents are neither embedded nor written; a second call does nothing.

    Raises:
        SpaceMismatchError: the active models are not those of the stored vectors; `reembed` changes them.
        RemovalError: half of the stored documents or more would go, and nobody allowed it.
        StorageError: the database refused.
    """
    active = {embedder.space: embedder.model for embedder in embedders}
    with owner_connection(admin_url) as connection:
        state = _matching_state(connection, active)
        stored = {} if state is None else store.read_hashes(connection)
    wanted = {document.name: stored_hash(document) for document in documents}
    fresh = [document for document in documents if stored.get(document.name) != wanted[document.name]]
    gone = removed(stored, wanted, allowed=allow_removal, command="seed")
    if not fresh and not gone and state is not None:
        return SeedReport(0, 0, 0, len(documents), state.chunks)
    prepared = []
    for index, document in enumerate(fresh):
        prepared.append(prepare(document, wanted[document.name], embedders))
        progress(index + 1, len(fresh))
    with owner_connection(admin_url) as connection:
        store.lock_corpus(connection)
        limit_lock_waits(connection)
        _matching_state(connection, active)  # the models may have been changed while these embedded
        for embedder in embedders:
            store.create_space(connection, embedder.space, embedder.dimension, embedder.model)
        store.delete_documents(connection, gone + [document.name for document in fresh])
        store.insert_documents(connection, prepared)
        chunks = store.refresh(connection, corpus_hash(documents), list(active), datetime.now(UTC))
    with owner_connection(admin_url) as connection:
        store.analyse(connection, list(active))
    changed = sum(document.name in stored for document in fresh)
    return SeedReport(len(fresh) - changed, changed, len(gone), len(documents) - len(fresh), chunks)


def removed(stored: Collection[str], wanted: Collection[str], *, allowed: bool, command: str) -> list[str]:
    """Names of stored documents that are not on disk any more.

    Raises:
        RemovalError: they are half of what is stored or more, which is what a lost folder of one language makes.
    """
    gone = sorted(set(stored) - set(wanted))
    if gone and not allowed and 2 * len(gone) >= len(stored):
        raise RemovalError(
            f"{len(gone)} of the {len(stored)} stored documents are not in the corpus on disk. Restore its files or "
            f"correct ANAMNESIS_CORPUS_DIR; if they are to go, run `anamnesis {command} --allow-removal`."
        )
    return gone


def _matching_state(connection: Connection, active: Mapping[str, str]) -> store.CorpusState | None:
    state = store.read_state(connection)
    if state is not None and not active.items() <= state.models.items():
        raise SpaceMismatchError(space_mismatch(state.models, active))
    return state


def space_mismatch(stored: Mapping[str, str], active: Mapping[str, str]) -> str:
    """The one line that refuses a change of embedder; both say the model of each space."""
    cure = "install the former version" if set(active) <= set(stored) else "set ANAMNESIS_EMBEDDER back"
    return (
        f"The corpus holds vectors of {_models(stored)}, but the active embedder makes those of {_models(active)}. "
        f"Run `anamnesis reembed`, or {cure}."
    )


def _models(spaces: Mapping[str, str]) -> str:
    return ", ".join(f"{space} ({model})" for space, model in sorted(spaces.items()))


def stored_hash(document: CorpusDocument) -> str:
    """Hash of a document together with the form in which it is stored."""
    return hashlib.sha256(f"{FORM}:{document.content_hash}".encode()).hexdigest()


def corpus_hash(documents: Sequence[CorpusDocument]) -> str:
    """Hash of the whole corpus, independent of the order of files."""
    lines = sorted(f"{document.name}:{document.content_hash}" for document in documents)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def prepare(document: CorpusDocument, digest: str, embedders: Sequence[Embedder]) -> store.StoredDocument:
    """A document as it is stored under this hash, with vectors of these models."""
    document_id = uuid5(GLOBAL_USER_ID, document.name)
    vectors = {embedder.space: embed(document, embedder) for embedder in embedders}
    return store.StoredDocument(
        id=document_id,
        name=document.name,
        topic=document.topic,
        lang=document.lang,
        title=document.title,
        source=list(document.source),
        version=document.version,
        reviewed=document.reviewed,
        content_hash=digest,
        names=sorted({name_key(content_words(name)) for name in (document.title, *document.aliases)} - {""}),
        chunks=[
            store.StoredChunk(
                id=_chunk_id(document_id, chunk),
                ordinal=chunk.ordinal,
                section=chunk.section,
                content=chunk.content,
                lexemes=tsvector(_weighted(document, chunk)),
                vectors={space: chunks[index] for space, (chunks, _) in vectors.items()},
                sentence_vectors={space: groups[index] for space, (_, groups) in vectors.items() if groups},
            )
            for index, chunk in enumerate(chunk_sections(list(document.sections)))
        ],
    )


def embed(document: CorpusDocument, embedder: Embedder) -> tuple[Vectors, list[Vectors]]:
    """Vectors of a document's chunks, and of each chunk's sentences where the encoder keeps such."""
    chunks = chunk_sections(list(document.sections))
    vectors = embedder.passages([embedded_text(document.title, chunk.section, chunk.content) for chunk in chunks])
    if not embedder.sentence_vectors:
        return vectors, []
    sentences = [_sentences(document, chunk) for chunk in chunks]
    flat = [sentence for of_chunk in sentences for sentence in of_chunk]
    return vectors, _regroup(_encode_once(embedder, flat), [len(part) for part in sentences])


def embedded_text(title: str, section: str, content: str) -> str:
    """What the encoder sees of a chunk: the title says what a paragraph in the middle is about."""
    return f"{title}. {section}. {content}"


def embedded_texts(document: CorpusDocument) -> tuple[list[str], list[str]]:
    """All that is embedded of a document: its chunks, and its sentences."""
    chunks = chunk_sections(list(document.sections))
    passages = [embedded_text(document.title, chunk.section, chunk.content) for chunk in chunks]
    return passages, [sentence for chunk in chunks for sentence in _sentences(document, chunk)]


def _chunk_id(document_id: UUID, chunk: Chunk) -> UUID:
    return uuid5(document_id, f"{chunk.ordinal}:{chunk.content}")


def _sentences(document: CorpusDocument, chunk: Chunk) -> list[str]:
    said = [chunk.content[start:end] for start, end in split_sentences(chunk.content)]
    return [document.title, *_names(document, chunk), *said]


def _names(document: CorpusDocument, chunk: Chunk) -> tuple[str, ...]:
    """The aliases stand with the first chunk, which says what the thing is; with every chunk they would drown it."""
    return document.aliases if chunk.ordinal == 0 else ()


def _weighted(document: CorpusDocument, chunk: Chunk) -> list[tuple[str, str]]:
    names = [(name, "B") for name in _names(document, chunk)]
    return [(document.title, "A"), *names, (chunk.section, "C"), (chunk.content, "D")]


def _encode_once(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """The title stands with every chunk, an overlap in two: equal texts are encoded once."""
    unique = list(dict.fromkeys(texts))
    rows = {text: index for index, text in enumerate(unique)}
    return embedder.passages(unique)[[rows[text] for text in texts]]


def _regroup(vectors: Vectors, sizes: Sequence[int]) -> list[Vectors]:
    groups, at = [], 0
    for size in sizes:
        groups.append(vectors[at : at + size])
        at += size
    return groups

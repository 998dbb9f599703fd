"""A small corpus on disk, and an encoder that counts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from engine.models.base import Vectors
from engine.storage.migrate import owner_connection

BODY = {
    "en": ["What it is", "What it measures", "High or low level", "What influences it", "When to see a doctor"],
    "ru": ["Что это такое", "Что показывает", "Высокий и низкий уровень", "Что влияет", "Когда обратиться к врачу"],
}
NAMES = ["iron.en", "iron.ru", "zinc.en", "zinc.ru"]


class CountingEmbedder:
    """Counts what it is asked to embed; a fault can be set off."""

    sentence_vectors = True

    def __init__(self, model: str = "count/1", space: str = "count4", dimension: int = 4) -> None:
        self.space, self.model, self.dimension = space, model, dimension
        self.texts: list[str] = []
        self.calls = 0
        self.fail_after: int | None = None

    def passages(self, texts: Sequence[str]) -> Vectors:
        if self.fail_after is not None and self.calls >= self.fail_after:
            raise RuntimeError("no model")
        self.calls += 1
        self.texts += texts
        return self.queries(texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return np.eye(self.dimension, dtype=np.float32)[[len(text) % self.dimension for text in texts]]


def write(root: Path, topic: str, lang: str, text: str) -> None:
    """A document of five chunks."""
    sections = "\n\n".join(f"## {heading}\n\n{text}" for heading in BODY[lang])
    meta = f"title: {topic} title\nlang: {lang}\ntopic: {topic}\nsource: [https://example.org/]"
    meta += "\nversion: 1\nreviewed: 2026-01-01"
    (root / lang / f"{topic}.md").write_text(f"---\n{meta}\n---\n{sections}\n", encoding="utf-8")


def write_corpus(root: Path) -> Path:
    """Four documents."""
    for lang in BODY:
        (root / lang).mkdir()
        for topic in ("iron", "zinc"):
            write(root, topic, lang, f"Железо. {topic.title()}.")
    return root


def stored(admin_url: str, space: str = "count4") -> dict[str, int]:
    """Chunks that have a vector, by document."""
    with owner_connection(admin_url) as connection:
        rows = connection.execute(
            sa.text(
                "SELECT d.name, count(e.chunk_id) FROM knowledge.document d "
                "JOIN knowledge.chunk c ON c.document_id = d.id "
                f"LEFT JOIN knowledge.embedding_{space} e ON e.chunk_id = c.id GROUP BY d.name"
            )
        )
        return dict(rows.all())


def tables(admin_url: str) -> set[str]:
    """Names of the tables of vectors, partitions not counted."""
    with owner_connection(admin_url) as connection:
        names = connection.execute(
            sa.text(
                "SELECT relname FROM pg_class WHERE relnamespace = 'knowledge'::regnamespace AND relkind IN ('r', 'p') "
                r"AND relname ~ '^(embedding|sentence)_' AND relname !~ '_p\d\d$' AND relname <> 'embedding_space'"
            )
        )
        return set(names.scalars())


def dimensions(admin_url: str, space: str = "count4") -> set[int]:
    """Lengths of the vectors in a space's two tables."""
    with owner_connection(admin_url) as connection:
        found = connection.execute(
            sa.text(
                f"SELECT vector_dims(embedding) FROM knowledge.embedding_{space} "
                f"UNION SELECT vector_dims(embedding) FROM knowledge.sentence_{space}"
            )
        )
        return set(found.scalars())


def empty(admin_url: str) -> None:
    """Take away all documents and spaces: quicker than a database a test."""
    with owner_connection(admin_url) as connection:
        connection.exec_driver_sql(
            "TRUNCATE knowledge.document, knowledge.lexeme, knowledge.spelling, knowledge.corpus_state, "
            "knowledge.staged_vector CASCADE"
        )
        for space in connection.exec_driver_sql("DELETE FROM knowledge.embedding_space RETURNING name").scalars():
            connection.exec_driver_sql(f"DROP TABLE knowledge.embedding_{space}, knowledge.sentence_{space}")

"""The tables as SQLAlchemy Core sees them; the migrations make them, a test holds the two together.

Every primary, unique and foreign key of a tenant's table starts with `user_id`: partition pruning, tenancy by composite
key and a later distribution by `user_id` all rest on it.
"""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

GLOBAL_USER_ID = UUID("00000000-0000-4000-8000-000000000001")
"""The sentinel that owns the curated corpus; it is refused as a user."""

CHUNK_PARTITIONS = 32

metadata = sa.MetaData()

_uuid = postgresql.UUID(as_uuid=True)
_at = sa.DateTime(timezone=True)

document = sa.Table(
    "document",
    metadata,
    sa.Column("user_id", _uuid, primary_key=True),
    sa.Column("id", _uuid, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("topic", sa.Text),
    sa.Column("lang", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("source", ARRAY(sa.Text), nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("reviewed", sa.Date),
    sa.Column("content_hash", sa.Text, nullable=False),
    sa.Column("names", ARRAY(sa.Text), nullable=False, server_default="{}"),
    sa.Column("created_at", _at, nullable=False, server_default=sa.func.now()),
    sa.UniqueConstraint("user_id", "name"),
    schema="knowledge",
)

chunk = sa.Table(
    "chunk",
    metadata,
    sa.Column("user_id", _uuid, primary_key=True),
    sa.Column("id", _uuid, primary_key=True),
    sa.Column("document_id", _uuid, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("section", sa.Text, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("lexemes", TSVECTOR, nullable=False),
    sa.UniqueConstraint("user_id", "document_id", "ordinal"),
    sa.ForeignKeyConstraint(
        ["user_id", "document_id"],
        ["knowledge.document.user_id", "knowledge.document.id"],
        ondelete="CASCADE",
    ),
    schema="knowledge",
)

embedding_space = sa.Table(
    "embedding_space",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("dimension", sa.Integer, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    schema="knowledge",
)

corpus_state = sa.Table(
    "corpus_state",
    metadata,
    sa.Column("singleton", sa.Boolean, primary_key=True, server_default=sa.true()),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("documents", sa.Integer, nullable=False),
    sa.Column("chunks", sa.Integer, nullable=False),
    sa.Column("spaces", ARRAY(sa.Text), nullable=False),
    sa.Column("seeded_at", _at, nullable=False),
    schema="knowledge",
)

message = sa.Table(
    "message",
    metadata,
    sa.Column("user_id", _uuid, primary_key=True),
    sa.Column("id", _uuid, primary_key=True),
    sa.Column("at", _at, nullable=False),
    sa.Column("chat", sa.Text, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("citations", JSONB, nullable=False),
    schema="chat",
)

query_log = sa.Table(
    "query_log",
    metadata,
    sa.Column("id", _uuid, primary_key=True),
    sa.Column("at", _at, nullable=False),
    sa.Column("query_hash", sa.CHAR(16), nullable=False),
    sa.Column("origin", sa.Text, nullable=False),
    sa.Column("chat", sa.Text, nullable=False),
    sa.Column("lang", sa.Text, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("kind", sa.Text),
    sa.Column("guardrail_status", sa.Text, nullable=False),
    sa.Column("judge", sa.Text, nullable=False),
    sa.Column("rule_ids", ARRAY(sa.Text), nullable=False),
    sa.Column("shadow_rule_ids", ARRAY(sa.Text), nullable=False),
    sa.Column("hits", sa.Integer, nullable=False),
    sa.Column("citations", sa.Integer, nullable=False),
    sa.Column("top_score", sa.Double),
    sa.Column("total_ms", sa.Double, nullable=False),
    sa.Column("stages", JSONB, nullable=False),
    sa.Column("tokens", JSONB, nullable=False),
    sa.Column("models", JSONB, nullable=False),
    schema="telemetry",
)

eval_run = sa.Table(
    "run",
    metadata,
    sa.Column("id", _uuid, primary_key=True),
    sa.Column("started_at", _at, nullable=False),
    sa.Column("finished_at", _at),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("git_revision", sa.Text, nullable=False),
    sa.Column("git_dirty", sa.Boolean, nullable=False),
    sa.Column("corpus_hash", sa.Text, nullable=False),
    sa.Column("documents", sa.Integer, nullable=False),
    sa.Column("chunks", sa.Integer, nullable=False),
    sa.Column("settings", JSONB, nullable=False),
    sa.Column("provenance", JSONB, nullable=False),
    sa.Column("label", sa.Text, nullable=False, server_default=""),
    schema="evaluation",
)

eval_metric = sa.Table(
    "metric",
    metadata,
    sa.Column("run_id", _uuid, sa.ForeignKey("evaluation.run.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("set_name", sa.Text, primary_key=True),
    sa.Column("lang", sa.Text, primary_key=True),
    sa.Column("metric", sa.Text, primary_key=True),
    sa.Column("value", sa.Double),
    sa.Column("ci_low", sa.Double),
    sa.Column("ci_high", sa.Double),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("n_scored", sa.Integer, nullable=False),
    schema="evaluation",
)

eval_case = sa.Table(
    "case_result",
    metadata,
    sa.Column("run_id", _uuid, sa.ForeignKey("evaluation.run.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("set_name", sa.Text, primary_key=True),
    sa.Column("case_id", sa.Text, primary_key=True),
    sa.Column("lang", sa.Text, nullable=False),
    sa.Column("style", sa.Text),
    sa.Column("scores", JSONB, nullable=False),
    sa.Column("answer", JSONB, nullable=False),
    sa.Column("error", sa.Text),
    schema="evaluation",
)

lexeme = sa.Table(
    "lexeme",
    metadata,
    sa.Column("term", sa.Text, primary_key=True),
    sa.Column("documents", sa.Integer, nullable=False),
    schema="knowledge",
)

spelling = sa.Table(
    "spelling",
    metadata,
    sa.Column("deletion", sa.Text, primary_key=True),
    sa.Column("word", sa.Text, primary_key=True),
    schema="knowledge",
)


topic_name = sa.Table(
    "topic_name",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("topic", sa.Text, primary_key=True),
    schema="knowledge",
)


class _Vector(sa.types.UserDefinedType[object]):
    """A vector of any dimension; written by COPY and moved within the database, so Python never reads it."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return "vector"


staged_vector = sa.Table(
    "staged_vector",
    metadata,
    sa.Column("space", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("document", sa.Text, primary_key=True),
    sa.Column("content_hash", sa.Text, primary_key=True),
    sa.Column("chunk", sa.Integer, primary_key=True),
    sa.Column("sentence", sa.Integer, primary_key=True),
    sa.Column("dimension", sa.Integer, nullable=False),
    sa.Column("embedding", _Vector, nullable=False),
    schema="knowledge",
)

"""Vectors of models that are not in force yet: a change of models is prepared here and resumed from here."""

from alembic import op

from engine.storage.scripts import run_script

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# The engine is granted nothing: what lies here serves no search.
STAGED = """
CREATE TABLE knowledge.staged_vector (
  space text NOT NULL,
  model text NOT NULL,
  document text NOT NULL,
  content_hash text NOT NULL,
  chunk integer NOT NULL,
  sentence integer NOT NULL,
  dimension integer NOT NULL,
  embedding vector NOT NULL CHECK (vector_dims(embedding) = dimension AND vector_norm(embedding) > 0.5),
  PRIMARY KEY (space, model, document, content_hash, chunk, sentence)
);
"""


def upgrade() -> None:
    run_script(op.get_bind(), STAGED)

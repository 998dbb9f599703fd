"""Words of the corpus by what is left of them when a letter is lost: one edit is looked up, not searched for."""

from alembic import op

from engine.storage.scripts import run_script

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SPELLING = """
CREATE TABLE knowledge.spelling (
  deletion text NOT NULL,
  word text NOT NULL,
  PRIMARY KEY (deletion, word)
);
GRANT SELECT ON knowledge.spelling TO anamnesis_engine;
"""


def upgrade() -> None:
    run_script(op.get_bind(), SPELLING)

"""Names of the corpus' topics: a question that says one whole is about that topic, whatever else stands in it.

And an index of lexemes without a list of pending entries: until a vacuum every search read that list from end to end,
which made searches after seeding ten times slower.
"""

from alembic import op

from engine.storage.scripts import run_script

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# Names are stored as `engine.text.lexemes.name_key` makes them.
NAMES = """
ALTER TABLE knowledge.document ADD COLUMN names text[] NOT NULL DEFAULT '{}';
CREATE TABLE knowledge.topic_name (
  name text NOT NULL,
  topic text NOT NULL,
  PRIMARY KEY (name, topic)
);
GRANT SELECT ON knowledge.topic_name TO anamnesis_engine;
DROP INDEX knowledge.chunk_lexemes;
CREATE INDEX chunk_lexemes ON knowledge.chunk USING gin (lexemes) WITH (fastupdate = off);
"""


def upgrade() -> None:
    run_script(op.get_bind(), NAMES)

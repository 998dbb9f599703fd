"""First tables: the corpus, chat history, the query log, evaluation runs."""

from alembic import op

from engine.storage.schema import CHUNK_PARTITIONS, GLOBAL_USER_ID
from engine.storage.scripts import run_script

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Compared as a uuid, not as text: text has many spellings of one uuid.
TENANT = f"""
CREATE FUNCTION knowledge.tenant() RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT nullif(nullif(current_setting('anamnesis.user_id', true), '')::uuid, '{GLOBAL_USER_ID}'::uuid)
$$
"""

KNOWLEDGE = """
CREATE TABLE knowledge.document (
  user_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  topic text,
  lang text NOT NULL,
  title text NOT NULL,
  source text[] NOT NULL,
  version integer NOT NULL,
  reviewed date,
  content_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, id),
  UNIQUE (user_id, name)
);
CREATE TABLE knowledge.chunk (
  user_id uuid NOT NULL,
  id uuid NOT NULL,
  document_id uuid NOT NULL,
  ordinal integer NOT NULL,
  section text NOT NULL,
  content text NOT NULL,
  lexemes tsvector NOT NULL,
  PRIMARY KEY (user_id, id),
  UNIQUE (user_id, document_id, ordinal),
  FOREIGN KEY (user_id, document_id) REFERENCES knowledge.document (user_id, id) ON DELETE CASCADE
) PARTITION BY HASH (user_id);
CREATE INDEX chunk_lexemes ON knowledge.chunk USING gin (lexemes);
CREATE TABLE knowledge.embedding_space (
  name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_]{0,30}$'),
  dimension integer NOT NULL CHECK (dimension BETWEEN 1 AND 16000),
  model text NOT NULL
);
CREATE TABLE knowledge.corpus_state (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  hash text NOT NULL,
  documents integer NOT NULL,
  chunks integer NOT NULL,
  spaces text[] NOT NULL,
  seeded_at timestamptz NOT NULL
);
CREATE TABLE knowledge.lexeme (
  term text PRIMARY KEY,
  documents integer NOT NULL
);
"""

# A vector row must stay on its page: a TOASTed vector costs an exact scan three to four times as much.
EMBEDDING_SPACE = f"""
CREATE FUNCTION knowledge.create_embedding_space(p_name text, p_dimension integer, p_model text)
RETURNS void LANGUAGE plpgsql AS $body$
DECLARE
  existing knowledge.embedding_space;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('knowledge.embedding_space'));
  SELECT * INTO existing FROM knowledge.embedding_space WHERE name = p_name;
  IF FOUND THEN
    IF existing.dimension <> p_dimension OR existing.model <> p_model THEN
      RAISE EXCEPTION 'embedding space % holds vectors of % (% dimensions), not of % (%)',
        p_name, existing.model, existing.dimension, p_model, p_dimension;
    END IF;
    RETURN;
  END IF;
  INSERT INTO knowledge.embedding_space (name, dimension, model) VALUES (p_name, p_dimension, p_model);
  EXECUTE format($sql$
    CREATE TABLE knowledge.%1$I (
      user_id uuid NOT NULL,
      chunk_id uuid NOT NULL,
      embedding vector(%3$s) NOT NULL CHECK (vector_norm(embedding) > 0.5),
      PRIMARY KEY (user_id, chunk_id),
      FOREIGN KEY (user_id, chunk_id) REFERENCES knowledge.chunk (user_id, id) ON DELETE CASCADE
    ) PARTITION BY HASH (user_id);
    CREATE TABLE knowledge.%2$I (
      user_id uuid NOT NULL,
      chunk_id uuid NOT NULL,
      ordinal integer NOT NULL,
      embedding vector(%3$s) NOT NULL CHECK (vector_norm(embedding) > 0.5),
      PRIMARY KEY (user_id, chunk_id, ordinal),
      FOREIGN KEY (user_id, chunk_id) REFERENCES knowledge.chunk (user_id, id) ON DELETE CASCADE
    );
    ALTER TABLE knowledge.%1$I ALTER COLUMN embedding SET STORAGE PLAIN;
    ALTER TABLE knowledge.%2$I ALTER COLUMN embedding SET STORAGE PLAIN;
  $sql$, 'embedding_' || p_name, 'sentence_' || p_name, p_dimension);
  FOR part IN 0..{CHUNK_PARTITIONS - 1} LOOP
    EXECUTE format('CREATE TABLE knowledge.%I PARTITION OF knowledge.%I
                    FOR VALUES WITH (MODULUS {CHUNK_PARTITIONS}, REMAINDER %s)',
      'embedding_' || p_name || '_p' || lpad(part::text, 2, '0'), 'embedding_' || p_name, part);
  END LOOP;
  PERFORM knowledge.protect(('knowledge.embedding_' || p_name)::regclass);
  PERFORM knowledge.protect(('knowledge.sentence_' || p_name)::regclass);
END
$body$;
REVOKE ALL ON FUNCTION knowledge.create_embedding_space(text, integer, text) FROM PUBLIC
"""

# Policies on a parent do not guard a partition that is named directly: the engine is granted parents only.
PROTECT = f"""
CREATE FUNCTION knowledge.protect(p_table regclass) RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', p_table);
  EXECUTE format('CREATE POLICY tenant ON %1$s TO anamnesis_engine
                  USING (user_id = knowledge.tenant() AND user_id <> %2$L)
                  WITH CHECK (user_id = knowledge.tenant() AND user_id <> %2$L)', p_table, '{GLOBAL_USER_ID}'::uuid);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO anamnesis_engine', p_table);
END
$body$;
REVOKE ALL ON FUNCTION knowledge.protect(regclass) FROM PUBLIC
"""

CHAT = """
CREATE TABLE chat.message (
  user_id uuid NOT NULL,
  id uuid NOT NULL,
  at timestamptz NOT NULL,
  chat text NOT NULL,
  question text NOT NULL,
  answer text NOT NULL,
  outcome text NOT NULL,
  citations jsonb NOT NULL,
  PRIMARY KEY (user_id, id)
);
CREATE INDEX message_by_time ON chat.message (user_id, at);
"""

TELEMETRY = """
CREATE TABLE telemetry.query_log (
  id uuid PRIMARY KEY,
  at timestamptz NOT NULL,
  query_hash char(16) NOT NULL CHECK (query_hash ~ '^[0-9a-f]{16}$'),
  origin text NOT NULL CHECK (origin IN ('app', 'test_chat', 'eval', 'cli')),
  chat text NOT NULL,
  lang text NOT NULL,
  outcome text NOT NULL,
  kind text,
  guardrail_status text NOT NULL,
  judge text NOT NULL,
  rule_ids text[] NOT NULL,
  shadow_rule_ids text[] NOT NULL,
  hits integer NOT NULL,
  citations integer NOT NULL,
  top_score double precision,
  total_ms double precision NOT NULL,
  stages jsonb NOT NULL,
  tokens jsonb NOT NULL,
  models jsonb NOT NULL
);
CREATE INDEX query_log_by_time ON telemetry.query_log (at);
"""

EVALUATION = """
CREATE TABLE evaluation.run (
  id uuid PRIMARY KEY,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  status text NOT NULL CHECK (status IN ('running', 'done', 'failed', 'cancelled')),
  git_revision text NOT NULL,
  git_dirty boolean NOT NULL,
  corpus_hash text NOT NULL,
  documents integer NOT NULL,
  chunks integer NOT NULL,
  settings jsonb NOT NULL,
  provenance jsonb NOT NULL,
  label text NOT NULL DEFAULT ''
);
CREATE TABLE evaluation.metric (
  run_id uuid NOT NULL REFERENCES evaluation.run ON DELETE CASCADE,
  set_name text NOT NULL,
  lang text NOT NULL,
  metric text NOT NULL,
  value double precision,
  ci_low double precision,
  ci_high double precision,
  n integer NOT NULL,
  n_scored integer NOT NULL,
  PRIMARY KEY (run_id, set_name, lang, metric)
);
CREATE TABLE evaluation.case_result (
  run_id uuid NOT NULL REFERENCES evaluation.run ON DELETE CASCADE,
  set_name text NOT NULL,
  case_id text NOT NULL,
  lang text NOT NULL,
  style text,
  scores jsonb NOT NULL,
  answer jsonb NOT NULL,
  error text,
  PRIMARY KEY (run_id, set_name, case_id)
);
"""

GRANTS = """
GRANT USAGE ON SCHEMA knowledge, chat, telemetry, evaluation TO anamnesis_engine;
GRANT SELECT ON knowledge.embedding_space, knowledge.corpus_state, knowledge.lexeme TO anamnesis_engine;
GRANT INSERT ON telemetry.query_log TO anamnesis_engine;
GRANT SELECT, INSERT, UPDATE, DELETE ON evaluation.run, evaluation.metric, evaluation.case_result TO anamnesis_engine;
"""


def _script(sql: str) -> None:
    run_script(op.get_bind(), sql)


def upgrade() -> None:
    _script(TENANT)
    _script(PROTECT)
    _script(KNOWLEDGE)
    for part in range(CHUNK_PARTITIONS):
        _script(
            f"CREATE TABLE knowledge.chunk_p{part:02d} PARTITION OF knowledge.chunk "
            f"FOR VALUES WITH (MODULUS {CHUNK_PARTITIONS}, REMAINDER {part})"
        )
    _script(EMBEDDING_SPACE)
    _script(CHAT)
    _script(TELEMETRY)
    _script(EVALUATION)
    _script(GRANTS)
    for table in ("knowledge.document", "knowledge.chunk", "chat.message"):
        _script(f"SELECT knowledge.protect('{table}')")

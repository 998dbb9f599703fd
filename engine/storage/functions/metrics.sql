-- What the console may read. Views and functions only; nothing here can restore a query.

CREATE OR REPLACE VIEW metrics.message AS
SELECT id, at, query_hash, origin, chat, lang, outcome, kind, guardrail_status, judge,
       hits, citations, top_score, total_ms
  FROM telemetry.query_log;

CREATE OR REPLACE VIEW metrics.stage AS
SELECT q.id AS message_id, q.at, q.origin, q.chat, q.lang, s.ordinality AS ordinal,
       s.value ->> 'name' AS stage, (s.value ->> 'ms')::double precision AS ms
  FROM telemetry.query_log q, jsonb_array_elements(q.stages) WITH ORDINALITY AS s(value, ordinality);

CREATE OR REPLACE VIEW metrics.rule_hit AS
SELECT q.id AS message_id, q.at, q.origin, q.chat, q.lang, r.rule_id, false AS shadow
  FROM telemetry.query_log q, unnest(q.rule_ids) AS r(rule_id)
UNION ALL
SELECT q.id, q.at, q.origin, q.chat, q.lang, r.rule_id, true
  FROM telemetry.query_log q, unnest(q.shadow_rule_ids) AS r(rule_id);

CREATE OR REPLACE VIEW metrics.token_use AS
SELECT q.id AS message_id, q.at, q.origin, q.chat, q.lang, t.key AS kind, t.value::bigint AS tokens
  FROM telemetry.query_log q, jsonb_each_text(q.tokens) AS t(key, value);

CREATE OR REPLACE VIEW metrics.corpus AS
SELECT hash, documents, chunks, spaces, seeded_at FROM knowledge.corpus_state;

CREATE OR REPLACE VIEW metrics.corpus_language AS
SELECT d.lang, count(DISTINCT d.id) AS documents, count(c.id) AS chunks
  FROM knowledge.document d LEFT JOIN knowledge.chunk c ON c.user_id = d.user_id AND c.document_id = d.id
 WHERE d.user_id = '00000000-0000-4000-8000-000000000001'
 GROUP BY d.lang;

CREATE OR REPLACE VIEW metrics.storage AS
SELECT 'chunk'::text AS relation, count(*) AS rows FROM knowledge.chunk
UNION ALL SELECT 'query_log', count(*) FROM telemetry.query_log;

CREATE OR REPLACE VIEW metrics.eval_run AS
SELECT id, started_at, finished_at, status, git_revision, git_dirty, corpus_hash, documents, chunks, settings,
       provenance, label
  FROM evaluation.run;

CREATE OR REPLACE VIEW metrics.eval_metric AS
SELECT run_id, set_name, lang, metric, value, ci_low, ci_high, n, n_scored FROM evaluation.metric;

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

-- A run that was recorded elsewhere says since when it is here; it says so in its provenance.
CREATE OR REPLACE VIEW metrics.eval_run AS
SELECT id, started_at, finished_at, status, git_revision, git_dirty, corpus_hash, documents, chunks, settings,
       provenance - 'imported_at' AS provenance, label, (provenance ->> 'imported_at')::timestamptz AS imported_at
  FROM evaluation.run;

CREATE OR REPLACE VIEW metrics.eval_metric AS
SELECT run_id, set_name, lang, metric, value, ci_low, ci_high, n, n_scored FROM evaluation.metric;

-- The best score of every question of a run, which is what the relevance gate decides by; 0 where nothing was found.
-- It is not known where the gate cut everything away and the run kept only what passed.
CREATE OR REPLACE VIEW metrics.eval_top_score AS
SELECT c.run_id, c.set_name, c.lang, c.scores ? 'false_abstention' AS answerable,
       CASE WHEN c.answer ? 'top_score' THEN (c.answer ->> 'top_score')::double precision
            WHEN best.score IS NOT NULL THEN best.score
            WHEN coalesce((c.answer ->> 'gated')::integer, 0) = 0 THEN 0
       END AS top_score
  FROM evaluation.case_result c
  LEFT JOIN LATERAL (
       SELECT max((hit.value ->> 'score')::double precision) AS score
         FROM jsonb_array_elements(c.answer -> 'hits') AS hit) AS best ON true
 WHERE c.error IS NULL AND (c.scores ? 'false_abstention' OR c.scores ? 'abstention');

-- The gate of a run: the threshold that was in force, and the one that its questions recommend: the highest that loses
-- at most one in twenty of the answerable (engine/evaluation/gate_report.py). Best scores that are not known lie below
-- the threshold in force, or, where a run does not say which it was, below the lowest score that passed: what is said
-- of unanswerable questions holds from there on.
CREATE OR REPLACE VIEW metrics.eval_gate AS
SELECT r.id AS run_id, force.threshold AS in_force,
       least(highest.score, floor(highest.score * 10000) / 10000) AS recommended,
       counted.answerable, counted.unanswerable, counted.unknown,
       CASE WHEN counted.unknown = 0 THEN 0 ELSE coalesce(force.threshold, counted.lowest_passed, 1) END AS known_from
  FROM evaluation.run r
 CROSS JOIN LATERAL (SELECT (r.settings ->> 'relevance_threshold')::double precision AS threshold) AS force
 CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE t.answerable) AS answerable,
              count(*) FILTER (WHERE NOT t.answerable) AS unanswerable,
              count(*) FILTER (WHERE t.top_score IS NULL) AS unknown,
              min(t.top_score) FILTER (WHERE NOT t.answerable AND t.top_score > 0) AS lowest_passed,
              array_agg(t.top_score ORDER BY t.top_score) FILTER (WHERE t.answerable) AS scores
         FROM metrics.eval_top_score t
        WHERE t.run_id = r.id) AS counted
 CROSS JOIN LATERAL (
       SELECT counted.scores[1 + floor(0.05 * counted.answerable + 1e-9)::integer] AS score) AS highest
 WHERE counted.answerable + counted.unanswerable > 0;

CREATE OR REPLACE VIEW metrics.eval_gate_curve AS
SELECT g.run_id, slice.lang, step.threshold,
       count(*) FILTER (WHERE t.answerable) AS answerable,
       count(*) FILTER (WHERE t.answerable AND t.top_score < step.threshold) AS lost,
       count(*) FILTER (WHERE NOT t.answerable) AS unanswerable,
       CASE WHEN step.threshold >= g.known_from
            THEN count(*) FILTER (WHERE NOT t.answerable AND t.top_score >= step.threshold) END AS passed
  FROM metrics.eval_gate g
  JOIN metrics.eval_top_score t ON t.run_id = g.run_id
 CROSS JOIN LATERAL (VALUES (t.lang), ('all')) AS slice(lang)
 CROSS JOIN LATERAL (
       SELECT (n / 50.0)::double precision AS threshold FROM generate_series(0, 50) AS n
        UNION SELECT g.in_force WHERE g.in_force IS NOT NULL
        UNION SELECT g.recommended WHERE g.recommended IS NOT NULL) AS step
 GROUP BY g.run_id, g.known_from, slice.lang, step.threshold;

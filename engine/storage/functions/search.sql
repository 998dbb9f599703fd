-- Search runs as the owner: under row level security the GIN index is off, because `@@` is not leakproof. The tenant is
-- read here and nowhere else, so a caller can ask for the corpus or for its own rows and for nothing more.

-- Whose rows a scope names; null: nobody's.
CREATE FUNCTION knowledge.scope_user(p_scope text) RETURNS uuid
LANGUAGE plpgsql STABLE AS $body$
BEGIN
  CASE p_scope
    WHEN 'global' THEN RETURN '00000000-0000-4000-8000-000000000001';
    WHEN 'personal' THEN RETURN knowledge.tenant();
    ELSE RAISE EXCEPTION 'unknown search scope %', p_scope USING ERRCODE = 'invalid_parameter_value';
  END CASE;
END
$body$;

CREATE FUNCTION knowledge.require_space(p_space text) RETURNS void
LANGUAGE plpgsql STABLE AS $body$
BEGIN
  PERFORM 1 FROM knowledge.embedding_space WHERE name = p_space;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'embedding space % does not exist', p_space;
  END IF;
END
$body$;

-- The statement for an embedding space; for none where it is null. Parameters: $1 user, $2 query vector as text, $3 stems,
-- $4 exact lexemes (same length; a pair of neighbours, joined by "_", stands in both), $5 candidates an arm, $6 slots (same
-- length: terms of one slot are other writings of one word, of which the best counts). Pairs add to the score and not to
-- the coverage.
CREATE FUNCTION knowledge.search_statement(p_space text) RETURNS text
LANGUAGE plpgsql STABLE AS $body$
DECLARE
  arm text := '';
  pools text := '';
  joins text := '';
  cosine text := 'NULL';
  sentence text := 'NULL';
BEGIN
  IF p_space IS NOT NULL THEN
    PERFORM knowledge.require_space(p_space);
    -- All distances of a scope are taken once: an exact scan loses no row, and what the lexical arm found needs its own.
    arm := format($sql$
      distance AS MATERIALIZED (
        SELECT chunk_id, embedding <=> $2::vector AS value FROM knowledge.%I WHERE user_id = $1
      ),
      dense AS MATERIALIZED (SELECT chunk_id FROM distance ORDER BY value, chunk_id LIMIT $5),
      $sql$, 'embedding_' || p_space);
    pools := ' UNION SELECT chunk_id FROM dense';
    joins := format($sql$
      LEFT JOIN distance e ON e.chunk_id = p.chunk_id
      LEFT JOIN LATERAL (
        SELECT max(1 - (s.embedding <=> $2::vector)) AS cosine
          FROM knowledge.%I s WHERE s.user_id = $1 AND s.chunk_id = p.chunk_id
      ) s ON true$sql$, 'sentence_' || p_space);
    cosine := '(1 - e.value)';
    sentence := 's.cosine';
  END IF;
  RETURN format($sql$
    WITH size AS (SELECT coalesce(max(documents), 1)::float8 AS n FROM knowledge.corpus_state),
    term AS (
      SELECT t.slot, t.stem, strpos(t.stem, '_') > 0 AS pair, s.term IS NULL AS unknown,
             (quote_literal(t.stem))::tsquery AS stem_query,
             (quote_literal(t.exact))::tsquery AS exact_query,
             ln(1 + (size.n - coalesce(s.documents, 0) + 0.5) / (coalesce(s.documents, 0) + 0.5)) AS stem_idf,
             ln(1 + (size.n - coalesce(x.documents, 0) + 0.5) / (coalesce(x.documents, 0) + 0.5)) AS exact_idf
        FROM unnest($3, $4, $6) AS t(stem, exact, slot) CROSS JOIN size
        LEFT JOIN knowledge.lexeme s ON s.term = t.stem
        LEFT JOIN knowledge.lexeme x ON x.term = t.exact
    ),
    slot AS (
      SELECT slot, max(stem_idf) AS idf, bool_and(unknown) AS unknown FROM term WHERE NOT pair GROUP BY slot
    ),
    -- A term at a time through the index: only what holds a term is looked into. Whoever holds its exact form holds its stem.
    by_slot AS (
      SELECT c.id AS chunk_id, t.slot,
             max(t.stem_idf * ts_rank('{0.4, 0.5, 0.7, 1.0}', c.lexemes, t.stem_query)
                 + 0.5 * t.exact_idf * ts_rank('{0.4, 0.5, 0.7, 1.0}', c.lexemes, t.exact_query)) AS score,
             max(t.stem_idf) FILTER (WHERE NOT t.pair) AS covered
        FROM term t JOIN knowledge.chunk c ON c.user_id = $1 AND c.lexemes @@ t.stem_query
       GROUP BY c.id, t.slot
    ),
    lexical AS MATERIALIZED (
      SELECT chunk_id, sum(score ORDER BY slot) AS score,
             sum(covered ORDER BY slot) / (SELECT sum(idf) FROM slot) AS coverage,
             array_agg(slot ORDER BY slot) FILTER (WHERE covered IS NOT NULL) AS covered
        FROM by_slot
       GROUP BY chunk_id
       ORDER BY score DESC, chunk_id LIMIT $5
    ),
    %1$s
    pool AS MATERIALIZED (SELECT chunk_id FROM lexical %2$s)
    SELECT c.id, d.name, d.topic, d.lang, d.title, d.source, c.ordinal, c.section, c.content,
           %4$s::float8, %5$s::float8, l.score::float8, coalesce(l.coverage, 0)::float8,
           (SELECT count(*) FROM slot)::integer,
           (SELECT count(*) FROM slot WHERE unknown)::integer, coalesce(l.covered, '{}'),
           (SELECT array_agg(idf ORDER BY slot) FROM slot)::float8[]
      FROM pool p
      -- LIMIT 1 by the whole key: the planner takes its two columns for a rare pair and would compare every row with every.
      JOIN LATERAL (SELECT * FROM knowledge.chunk c WHERE c.user_id = $1 AND c.id = p.chunk_id LIMIT 1) c ON true
      JOIN LATERAL (SELECT * FROM knowledge.document d WHERE d.user_id = $1 AND d.id = c.document_id LIMIT 1) d ON true
      LEFT JOIN lexical l ON l.chunk_id = p.chunk_id
      %3$s
     ORDER BY c.id
  $sql$, arm, pools, joins, cosine, sentence);
END
$body$;

CREATE FUNCTION knowledge.search(
  p_scope text, p_space text, p_vector text, p_stems text[], p_exacts text[], p_pool integer, p_slots integer[]
) RETURNS TABLE (
  chunk uuid, document text, topic text, lang text, title text, source text[], ordinal integer, section text,
  content text, cosine float8, sentence_cosine float8, lexical float8, coverage float8, terms integer,
  unknown integer, covered integer[], rarity float8[]
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $body$
DECLARE
  v_user uuid := knowledge.scope_user(p_scope);
BEGIN
  IF v_user IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE knowledge.search_statement(p_space)
    USING v_user, p_vector, p_stems, p_exacts, p_pool, p_slots;
END
$body$;

-- How close chunks are to a query in another space. Parameters: $1 user, $2 query vector as text, $3 chunks.
CREATE FUNCTION knowledge.cosines_statement(p_space text) RETURNS text
LANGUAGE plpgsql STABLE AS $body$
BEGIN
  PERFORM knowledge.require_space(p_space);
  RETURN format($sql$
    SELECT p.chunk_id, e.cosine, s.cosine
      FROM unnest($3) AS p(chunk_id)
      -- LIMIT 1 by the whole key: else the planner copies all vectors of the scope into a hash table.
      LEFT JOIN LATERAL (
        SELECT 1 - (e.embedding <=> $2::vector) AS cosine
          FROM knowledge.%I e WHERE e.user_id = $1 AND e.chunk_id = p.chunk_id LIMIT 1
      ) e ON true
      LEFT JOIN LATERAL (
        SELECT max(1 - (s.embedding <=> $2::vector)) AS cosine
          FROM knowledge.%I s WHERE s.user_id = $1 AND s.chunk_id = p.chunk_id
      ) s ON true
     ORDER BY 1
  $sql$, 'embedding_' || p_space, 'sentence_' || p_space);
END
$body$;

-- For an encoder that only scores what the others found.
CREATE FUNCTION knowledge.cosines(p_scope text, p_space text, p_vector text, p_chunks uuid[])
RETURNS TABLE (chunk uuid, cosine float8, sentence_cosine float8)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $body$
DECLARE
  v_user uuid := knowledge.scope_user(p_scope);
BEGIN
  IF v_user IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE knowledge.cosines_statement(p_space) USING v_user, p_vector, p_chunks;
END
$body$;

REVOKE ALL ON FUNCTION knowledge.scope_user(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION knowledge.require_space(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION knowledge.search_statement(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION knowledge.cosines_statement(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION knowledge.search(text, text, text, text[], text[], integer, integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION knowledge.cosines(text, text, text, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION knowledge.search(text, text, text, text[], text[], integer, integer[]) TO anamnesis_engine;
GRANT EXECUTE ON FUNCTION knowledge.cosines(text, text, text, uuid[]) TO anamnesis_engine;

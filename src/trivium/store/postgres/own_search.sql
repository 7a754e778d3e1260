-- name: text_searches
SELECT cfgname::text AS name FROM pg_ts_config WHERE pg_ts_config_is_visible(oid) ORDER BY 1;

-- name: allow_words_anew
SELECT set_config('trivium.stores_words_anew', 'yes', true);

-- name: words_as_said
SELECT c.number AS chunk_number, c.version AS chunk_version, c.ordinal, c.text, c.heading,
       c.subject, c.predicate, c.graph, c.embedding_hash, d.*
FROM words w
JOIN chunks c ON c.number = w.chunk
JOIN documents d ON d.number = c.document;

-- name: store_words_anew
UPDATE words w
SET vector = word_vector(said.key, title, said.heading, body, context, tags)
FROM unnest(:numbers::bigint[], :key::text[], :title::text[], :heading::text[], :body::text[],
            :context::text[], :tags::text[])
     AS said (number, key, title, heading, body, context, tags)
WHERE w.chunk = said.number;

-- name: read_text_query
SELECT held::text, websearch_to_tsquery(text_search(), :written)::text AS written,
       (CASE WHEN excluded IS NULL THEN held ELSE held && !!excluded END)::text AS loosely
FROM (SELECT any_query(phraseto_tsquery(text_search(), piece)) AS held
      FROM unnest(:pieces::text[]) AS piece) AS wanted,
     (SELECT any_query(phraseto_tsquery(text_search(), piece)) AS excluded
      FROM unnest(:excluded::text[]) AS piece) AS unwanted;

-- name: text_matches
SELECT string_agg(int8send(chunk) || float8send(score), ''::bytea)
FROM (
  SELECT w.chunk, text_score(w.vector, :letters::"char"[], :weights::float4[], :held::tsquery,
                            :written::tsquery, :loosely::tsquery) AS score
  FROM words w
  WHERE w.vector @@ :held::tsquery
    AND CASE WHEN w.chunk < :end THEN get_bit(:mask, w.chunk) = 1 ELSE false END
) AS matches
WHERE score IS NOT NULL;

-- name: text_matches_of_the_past
SELECT string_agg(int8send(number) || float8send(score), ''::bytea)
FROM (
  SELECT number, text_score(word_vector(key, title, heading, body, context, tags),
                            :letters::"char"[], :weights::float4[], :held::tsquery,
                            :written::tsquery, :loosely::tsquery) AS score
  FROM unnest(:numbers::bigint[], :key::text[], :title::text[], :heading::text[], :body::text[],
              :context::text[], :tags::text[])
       AS then_said (number, key, title, heading, body, context, tags)
) AS matches
WHERE score IS NOT NULL;

-- name: word_similarities
SELECT c.number, word_similarity(:query, c.heading || ' ' || c.text)::float8 AS similarity
FROM unnest(:numbers::bigint[]) AS n (number)
JOIN chunks c ON c.number = n.number;

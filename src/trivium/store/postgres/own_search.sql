-- name: text_searches
SELECT cfgname::text AS name FROM pg_ts_config WHERE pg_ts_config_is_visible(oid) ORDER BY 1;

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

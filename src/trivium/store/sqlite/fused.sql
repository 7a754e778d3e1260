-- name: fused
WITH vec_matches AS (
  SELECT c.number AS rowid, v.key + 1 AS rank_number
  FROM json_each(:vector) v
  JOIN documents d ON d.id = json_extract(v.value, '$[0]')
  JOIN chunks c ON c.document = d.number AND c.version = json_extract(v.value, '$[1]')
               AND c.ordinal = json_extract(v.value, '$[2]')
),
fts_matches AS (
  SELECT rowid, row_number() OVER (ORDER BY score, id) AS rank_number
  FROM (
    SELECT words.rowid AS rowid, d.id || '@' || c.version || '/' || c.ordinal AS id,
           bm25(words, :key, :title, :heading, :body, :context, :tags) AS score
    FROM words
    JOIN chunks c ON c.number = words.rowid
    JOIN documents d ON d.number = c.document
    WHERE words MATCH :match
      AND (:allowed IS NULL OR words.rowid IN (SELECT value FROM json_each(:allowed)))
    ORDER BY score, id LIMIT :depth)
),
final AS (
  SELECT d.id || '@' || c.version || '/' || c.ordinal AS id,
         coalesce(:keyword_weight / (:k + fts_matches.rank_number), 0.0)
         + coalesce(:vector_weight / (:k + vec_matches.rank_number), 0.0) AS combined_rank,
         fts_matches.rank_number AS keyword_rank, vec_matches.rank_number AS vector_rank
  FROM chunks c
  JOIN documents d ON d.number = c.document
  LEFT JOIN fts_matches ON fts_matches.rowid = c.number
  LEFT JOIN vec_matches ON vec_matches.rowid = c.number
  WHERE c.number IN (SELECT rowid FROM fts_matches UNION SELECT rowid FROM vec_matches)
  ORDER BY combined_rank DESC, id LIMIT :limit
)
SELECT * FROM final;

-- name: unindex_words
DELETE FROM words
WHERE chunk IN (SELECT number FROM chunks WHERE document = ? AND version = ?);

-- name: index_words
INSERT INTO words (chunk, vector) VALUES (?, word_vector(?, ?, ?, ?, ?, ?));

-- name: records
SELECT c.*, d.id AS document_id
FROM jsonb_array_elements(replace(?, '\u0000', '\ufffd')::jsonb) AS j (value)
JOIN documents d ON d.id = j.value ->> 0
JOIN chunks c ON c.document = d.number AND c.version = (j.value ->> 1)::bigint
             AND c.ordinal = (j.value ->> 2)::bigint;

-- name: subjects_of_types
WITH RECURSIVE wanted (type) AS (
  SELECT value COLLATE "C" FROM json_each(:types)
  UNION
  SELECT q.subject
  FROM wanted w
  JOIN quads q ON q.predicate = 'http://www.w3.org/2000/01/rdf-schema#subClassOf'
              AND q.object = w.type
  JOIN documents d ON d.number = q.document AND d.version = q.version
  WHERE :subclasses AND (:scopes::text IS NULL
                         OR d.scope IN (SELECT value FROM json_each(:scopes)))
)
SELECT DISTINCT q.subject
FROM wanted w
JOIN quads q ON q.predicate = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
            AND q.object = w.type
JOIN documents d ON d.number = q.document AND d.version = q.version
WHERE :scopes::text IS NULL OR d.scope IN (SELECT value FROM json_each(:scopes));

-- name: counts
SELECT
  (SELECT count(*) FROM documents) AS documents,
  (SELECT count(*) FROM chunks c
     JOIN documents d ON d.number = c.document AND d.version = c.version) AS chunks,
  (SELECT count(*) FROM versions) AS versions,
  (SELECT count(*) FROM quads q
     JOIN documents d ON d.number = q.document AND d.version = q.version) AS facts,
  (SELECT count(*) FROM words) AS indexed;

-- name: may_write
SELECT has_table_privilege('commits', 'INSERT') AND NOT pg_is_in_recovery();

-- name: unindexed_chunks
SELECT count(*) FROM chunks c
JOIN documents d ON d.number = c.document AND d.version = c.version
WHERE NOT EXISTS (SELECT 1 FROM words w WHERE w.chunk = c.number);

-- name: orphaned_words
SELECT count(*) FROM words w WHERE NOT EXISTS (
  SELECT 1 FROM chunks c
  JOIN documents d ON d.number = c.document AND d.version = c.version
  WHERE c.number = w.chunk);

-- name: misfit_vectors
SELECT count(*) FROM vectors v JOIN models m ON m.number = v.model
WHERE vector_dims(v.vector) <> m.dimension;

-- name: drop_misfit_vectors
DELETE FROM vectors v USING models m WHERE m.number = v.model AND vector_dims(v.vector) <> m.dimension;

-- name: count_vectors
SELECT count(*) FROM vectors WHERE model = ?;

-- name: keep_fields
UPDATE activations
SET fields = (SELECT row_to_json(d)::text FROM documents d WHERE d.number = :document)
WHERE document = :document AND fields IS NULL;

-- name: keep_hashes
UPDATE activations
SET hashes = (
  SELECT coalesce(json_object_agg(ordinal::text, embedding_hash)::text, '{}') FROM chunks
  WHERE document = :document AND version = :version)
WHERE document = :document AND version = :version AND hashes IS NULL;

-- name: rows_as_of
WITH past AS (
  SELECT max(a.rowid) AS latest
  FROM activations a JOIN documents d ON d.number = a.document
  WHERE a.at <= :at AND (d.id <> :document OR a.version = :version)
  GROUP BY a.document
)
SELECT c.number AS chunk_number, c.version AS chunk_version, c.ordinal, c.text, c.heading,
       c.subject, c.predicate, c.graph, a.fields,
       coalesce(a.hashes::jsonb ->> c.ordinal::text, c.embedding_hash) AS embedding_hash,
       d.*
FROM past t
JOIN activations a ON a.rowid = t.latest
JOIN chunks c ON c.document = a.document AND c.version = a.version
JOIN documents d ON d.number = c.document
ORDER BY c.number;

-- name: subjects_of_types_as_of
WITH RECURSIVE past AS (
  SELECT max(a.rowid) AS latest
  FROM activations a JOIN documents d ON d.number = a.document
  WHERE a.at <= :at AND (d.id <> :document OR a.version = :version)
  GROUP BY a.document
),
then_said AS MATERIALIZED (
  SELECT q.subject, q.predicate, q.object
  FROM past t
  JOIN activations a ON a.rowid = t.latest
  JOIN quads q ON q.document = a.document AND q.version = a.version
  JOIN documents d ON d.number = q.document
  WHERE q.predicate IN ('http://www.w3.org/1999/02/22-rdf-syntax-ns#type',
                        'http://www.w3.org/2000/01/rdf-schema#subClassOf')
    AND (:scopes::text IS NULL OR (
      d.scope IN (SELECT value FROM json_each(:scopes))
      AND coalesce(a.fields::jsonb ->> 'scope', d.scope)
          IN (SELECT value FROM json_each(:scopes))))
),
wanted (type) AS (
  SELECT value COLLATE "C" FROM json_each(:types)
  UNION
  SELECT s.subject FROM wanted w
  JOIN then_said s ON s.predicate = 'http://www.w3.org/2000/01/rdf-schema#subClassOf'
                  AND s.object = w.type
  WHERE :subclasses
)
SELECT DISTINCT s.subject FROM wanted w
JOIN then_said s ON s.predicate = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
                AND s.object = w.type;

-- name: version_bytes
SELECT (SELECT octet_length(text) FROM versions
        WHERE document = :document AND version = :version)
     + coalesce((SELECT sum(octet_length(text)) FROM chunks
                 WHERE document = :document AND version = :version), 0);

-- name: idle_vectors
WITH then_used AS MATERIALIZED (
  SELECT DISTINCT h.value FROM activations a, jsonb_each_text(a.hashes::jsonb) h
  WHERE a.hashes IS NOT NULL
)
SELECT count(*), coalesce(sum(4 * vector_dims(v.vector)), 0) FROM vectors v
WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.embedding_hash = v.hash)
  AND NOT EXISTS (SELECT 1 FROM then_used u WHERE u.value = v.hash);

-- name: delete_idle_vectors
WITH then_used AS MATERIALIZED (
  SELECT DISTINCT h.value FROM activations a, jsonb_each_text(a.hashes::jsonb) h
  WHERE a.hashes IS NOT NULL
)
DELETE FROM vectors v
WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.embedding_hash = v.hash)
  AND NOT EXISTS (SELECT 1 FROM then_used u WHERE u.value = v.hash);

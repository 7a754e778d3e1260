-- name: keep_fields
UPDATE activations
SET fields = (
  SELECT json_object(
    'number', number, 'id', id, 'uri', uri, 'kind', kind, 'title', title, 'key', key,
    'context', context, 'media_type', media_type, 'category', category, 'scope', scope,
    'type', type, 'domain', domain, 'severity', severity, 'tags', tags, 'metadata', metadata,
    'given', given, 'valid_from', valid_from, 'valid_until', valid_until, 'created', created,
    'updated', updated, 'source_hash', source_hash, 'source_size', source_size,
    'source_mtime', source_mtime, 'version', version)
  FROM documents WHERE number = :document)
WHERE document = :document AND fields IS NULL;

-- name: keep_hashes
UPDATE activations
SET hashes = (
  SELECT json_group_object(CAST(ordinal AS TEXT), embedding_hash) FROM chunks
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
       coalesce(json_extract(a.hashes, '$."' || c.ordinal || '"'), c.embedding_hash)
         AS embedding_hash,
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
    AND (:scopes IS NULL OR (
      d.scope IN (SELECT value FROM json_each(:scopes))
      AND coalesce(json_extract(a.fields, '$.scope'), d.scope)
          IN (SELECT value FROM json_each(:scopes))))
),
wanted (type) AS (
  SELECT value FROM json_each(:types)
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
SELECT (SELECT length(CAST(text AS BLOB)) FROM versions
        WHERE document = :document AND version = :version)
     + coalesce((SELECT sum(length(CAST(text AS BLOB))) FROM chunks
                 WHERE document = :document AND version = :version), 0);

-- name: idle_vectors
SELECT count(*), sum(length(vector)) FROM vectors WHERE hash NOT IN (
  SELECT embedding_hash FROM chunks
  UNION SELECT h.value FROM activations a, json_each(a.hashes) h WHERE a.hashes IS NOT NULL);

-- name: delete_idle_vectors
DELETE FROM vectors WHERE hash NOT IN (
  SELECT embedding_hash FROM chunks
  UNION SELECT h.value FROM activations a, json_each(a.hashes) h WHERE a.hashes IS NOT NULL);

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

-- name: insert_activation
INSERT INTO activations (document, version, at) VALUES (?, ?, ?);

-- name: became_active
SELECT a.at FROM activations a JOIN documents d ON d.number = a.document
WHERE d.id = ? AND a.version = ? ORDER BY a.rowid LIMIT 1;

-- name: fields_of_version
SELECT fields FROM activations WHERE document = ? AND version = ? ORDER BY rowid DESC LIMIT 1;

-- name: hashes_of_version
SELECT embedding_hash FROM chunks WHERE document = ? AND version = ? ORDER BY ordinal;

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

-- name: version_exists
SELECT 1 FROM versions WHERE document = ? AND version = ?;

-- name: source_hashes
SELECT d.id, v.version, v.source_hash
FROM versions v JOIN documents d ON d.number = v.document;

-- name: blobs
SELECT b.hash, max(b.uri) AS uri FROM json_each(?) j JOIN blobs b ON b.hash = j.value
GROUP BY b.hash;

-- name: add_blob
INSERT OR IGNORE INTO blobs (hash, uri) VALUES (?, ?);

-- name: old_versions
-- Not active, not among the newest, and not active since the given moment: a version stops being
-- active when the next row of its document begins.
WITH spans AS (
  SELECT document, version,
         lead(at, 1, '9999') OVER (PARTITION BY document ORDER BY rowid) AS until
  FROM activations
), ended AS (
  SELECT document, version, max(until) AS until FROM spans GROUP BY document, version
), ranked AS (
  SELECT v.document, v.version,
         row_number() OVER (PARTITION BY v.document ORDER BY v.version DESC) AS place
  FROM versions v
)
SELECT r.document, d.id, r.version
FROM ranked r
JOIN documents d ON d.number = r.document
LEFT JOIN ended e ON e.document = r.document AND e.version = r.version
WHERE r.version <> d.version AND r.place > :keep AND coalesce(e.until, '') < :before
ORDER BY d.id, r.version;

-- name: version_bytes
SELECT (SELECT length(CAST(text AS BLOB)) FROM versions WHERE document = ? AND version = ?)
     + coalesce((SELECT sum(length(CAST(text AS BLOB))) FROM chunks
                 WHERE document = ? AND version = ?), 0);

-- name: delete_chunks
DELETE FROM chunks WHERE document = ? AND version = ?;

-- name: delete_quads
DELETE FROM quads WHERE document = ? AND version = ?;

-- name: delete_version
DELETE FROM versions WHERE document = ? AND version = ?;

-- name: bury
-- The row stays: without it, the version before would seem to have been active longer.
UPDATE activations SET fields = '{}', hashes = '{}' WHERE document = ? AND version = ?;

-- name: idle_vectors
SELECT count(*), sum(length(vector)) FROM vectors WHERE hash NOT IN (
  SELECT embedding_hash FROM chunks
  UNION SELECT h.value FROM activations a, json_each(a.hashes) h WHERE a.hashes IS NOT NULL);

-- name: delete_idle_vectors
DELETE FROM vectors WHERE hash NOT IN (
  SELECT embedding_hash FROM chunks
  UNION SELECT h.value FROM activations a, json_each(a.hashes) h WHERE a.hashes IS NOT NULL);

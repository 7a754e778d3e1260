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
  SELECT max(rowid) AS latest FROM activations WHERE at <= :at GROUP BY document
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
WITH past AS (
  SELECT max(rowid) AS latest FROM activations WHERE at <= :at GROUP BY document
)
SELECT DISTINCT q.subject, d.scope,
       coalesce(json_extract(a.fields, '$.scope'), d.scope) AS scope_then
FROM past t
JOIN activations a ON a.rowid = t.latest
JOIN quads q ON q.document = a.document AND q.version = a.version
JOIN documents d ON d.number = q.document
WHERE q.predicate = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
  AND q.object IN (SELECT value FROM json_each(:types));

-- name: version_exists
SELECT 1 FROM versions WHERE document = ? AND version = ?;

-- name: unindex_words
DELETE FROM words
WHERE rowid IN (SELECT number FROM chunks WHERE document = ? AND version = ?);

-- name: optimize_words
INSERT INTO words (words) VALUES ('optimize');

-- name: index_words
INSERT INTO words (rowid, key, title, heading, body, context, tags) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: records
SELECT c.*, d.id AS document_id FROM json_each(?) j
JOIN documents d ON d.id = json_extract(j.value, '$[0]')
JOIN chunks c ON c.document = d.number AND c.version = json_extract(j.value, '$[1]')
             AND c.ordinal = json_extract(j.value, '$[2]');

-- name: records_with_documents
SELECT d.id, d.uri, d.title, d.kind, d.key, d.context, d.media_type, d.category, d.scope, d.type,
       d.domain, d.severity, d.tags, d.metadata, d.given, d.valid_from, d.valid_until, d.created,
       d.updated, d.source_hash, d.source_size, d.source_mtime, d.number, d.version,
       c.version, c.ordinal, c.text, c.heading, c.page_first, c.page_last, c."start", c."end",
       c.subject, c.predicate, c.graph, c.embedding_hash
FROM json_each(?) j
JOIN chunks c ON c.number = j.value
JOIN documents d ON d.number = c.document;

-- name: run_of_chunk
SELECT min(o.number), max(o.number)
FROM chunks c JOIN chunks o ON o.document = c.document AND o.version = c.version
WHERE c.number = ?;

-- name: subjects_of_types
WITH RECURSIVE wanted (type) AS (
  SELECT value FROM json_each(:types)
  UNION
  SELECT q.subject
  FROM wanted w
  JOIN quads q ON q.predicate = 'http://www.w3.org/2000/01/rdf-schema#subClassOf'
              AND q.object = w.type
  JOIN documents d ON d.number = q.document AND d.version = q.version
  WHERE :subclasses AND (:scopes IS NULL OR d.scope IN (SELECT value FROM json_each(:scopes)))
)
SELECT DISTINCT q.subject
FROM wanted w
JOIN quads q ON q.predicate = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
            AND q.object = w.type
JOIN documents d ON d.number = q.document AND d.version = q.version
WHERE :scopes IS NULL OR d.scope IN (SELECT value FROM json_each(:scopes));

-- name: counts
SELECT
  (SELECT count(*) FROM documents) AS documents,
  (SELECT count(*) FROM chunks c
     JOIN documents d ON d.number = c.document AND d.version = c.version) AS chunks,
  (SELECT count(*) FROM versions) AS versions,
  (SELECT count(*) FROM quads q
     JOIN documents d ON d.number = q.document AND d.version = q.version) AS facts,
  (SELECT count(*) FROM words_docsize) AS indexed;

-- name: unindexed_chunks
SELECT count(*) FROM chunks c
JOIN documents d ON d.number = c.document AND d.version = c.version
WHERE c.number NOT IN (SELECT id FROM words_docsize);

-- name: orphaned_words
SELECT count(*) FROM words_docsize WHERE id NOT IN (
  SELECT c.number FROM chunks c
  JOIN documents d ON d.number = c.document AND d.version = c.version);

-- name: misfit_vectors
SELECT count(*) FROM vectors v JOIN models m ON m.number = v.model
WHERE length(v.vector) <> 4 * m.dimension;

-- name: drop_misfit_vectors
DELETE FROM vectors
WHERE length(vector) <> 4 * (SELECT dimension FROM models WHERE number = vectors.model);

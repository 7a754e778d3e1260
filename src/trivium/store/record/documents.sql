-- name: generation
SELECT coalesce(max(generation), 0) FROM commits;

-- name: commit_stamp
SELECT stamp FROM commits WHERE generation = ?;

-- name: add_commit
INSERT INTO commits (generation, stamp, at)
SELECT coalesce(max(generation), 0) + 1, ?, ? FROM commits
RETURNING generation;

-- name: state
SELECT value FROM state WHERE key = ?;

-- name: set_state
INSERT INTO state (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: set_state_once
INSERT INTO state (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: document_by_id
SELECT number, version FROM documents WHERE id = ?;

-- name: versions_by_id
SELECT d.id, d.number, d.version FROM json_each(?) j JOIN documents d ON d.id = j.value;

-- name: insert_document
INSERT INTO documents (id, uri, kind, title, key, context, media_type, category, scope, type,
                       domain, severity, tags, metadata, given, valid_from, valid_until, created,
                       updated, source_hash, source_size, source_mtime, version)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: update_document
UPDATE documents
SET uri = :uri, kind = :kind, title = :title, key = :key, context = :context,
    media_type = :media_type, category = :category, scope = :scope, type = :type,
    domain = :domain, severity = :severity, tags = :tags, metadata = :metadata, given = :given,
    valid_from = :valid_from, valid_until = :valid_until, created = :created,
    updated = :updated, source_hash = :source_hash, source_size = :source_size,
    source_mtime = :source_mtime, version = :version
WHERE number = :number;

-- name: last_version
SELECT coalesce(max(version), 0) FROM versions WHERE document = ?;

-- name: insert_version
INSERT INTO versions (document, version, pipeline, source_hash, text, made)
VALUES (?, ?, ?, ?, ?, ?);

-- name: insert_chunk
INSERT INTO chunks (document, version, ordinal, text, heading, page_first, page_last, "start",
                    "end", embedding_hash, subject, predicate, graph)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_quad
INSERT INTO quads (document, version, subject, predicate, object, datatype, language, graph)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: set_embedding_hash
UPDATE chunks SET embedding_hash = ? WHERE document = ? AND version = ? AND ordinal = ?;

-- name: ordinals_of_version
SELECT ordinal FROM chunks WHERE document = ? AND version = ? ORDER BY ordinal;

-- name: texts_of_version
SELECT number, heading, text FROM chunks WHERE document = ? AND version = ?;

-- name: note_changes
INSERT INTO changes (generation, chunk, what)
SELECT :generation, number, :what FROM chunks WHERE document = :document AND version = :version;

-- name: chunks_of_documents
SELECT c.number
FROM json_each(?) j
JOIN documents d ON d.number = CAST(j.value AS BIGINT)
JOIN chunks c ON c.document = d.number AND c.version = d.version
ORDER BY c.number;

-- name: note_changes_of
INSERT INTO changes (generation, chunk, what)
SELECT :generation, CAST(j.value AS BIGINT), :what FROM json_each(:chunks) j;

-- name: delete_document
DELETE FROM documents WHERE number = ?;

-- name: trim_changes
DELETE FROM changes WHERE generation <= ?;

-- name: count_changes
SELECT count(*) FROM changes WHERE generation > ?;

-- name: changed_chunks
SELECT DISTINCT chunk FROM changes WHERE generation > ? AND what = ? ORDER BY chunk;

-- name: changed_in_any_way
SELECT DISTINCT chunk FROM changes WHERE generation > ? ORDER BY chunk;

-- name: active_chunk_numbers
SELECT c.number
FROM chunks c JOIN documents d ON d.number = c.document AND d.version = c.version
ORDER BY c.number;

-- name: rows_to_index
SELECT c.number, c.version, c.ordinal, c.text, c.heading, c.embedding_hash, c.subject,
       c.predicate, c.graph, d.number, d.id, d.uri, d.title, d.key, d.context, d.scope, d.kind,
       d.category, d.type, d.domain, d.severity, d.tags, d.metadata, d.created, d.valid_from,
       d.valid_until
FROM chunks c
JOIN documents d ON d.number = c.document AND d.version = c.version
WHERE c.number IN (SELECT CAST(j.value AS BIGINT) FROM json_each(:chunks) j)
ORDER BY c.number;

-- name: vectors_of_chunks
SELECT c.number, v.vector, d.scope
FROM chunks c
JOIN documents d ON d.number = c.document AND d.version = c.version
JOIN models m ON m.fingerprint = :fingerprint
JOIN vectors v ON v.hash = c.embedding_hash AND v.model = m.number
WHERE c.number IN (SELECT CAST(j.value AS BIGINT) FROM json_each(:chunks) j)
ORDER BY c.number;

-- name: chunks_with_vectors
SELECT c.number
FROM chunks c
JOIN documents d ON d.number = c.document AND d.version = c.version
JOIN models m ON m.fingerprint = :fingerprint
JOIN vectors v ON v.hash = c.embedding_hash AND v.model = m.number
WHERE c.number IN (SELECT CAST(j.value AS BIGINT) FROM json_each(:chunks) j)
ORDER BY c.number;

-- name: documents_by_id
SELECT d.* FROM json_each(?) j JOIN documents d ON d.id = j.value;

-- name: documents_by_number
SELECT d.* FROM json_each(?) j JOIN documents d ON d.number = CAST(j.value AS BIGINT);

-- name: documents_by_uri
SELECT d.* FROM json_each(?) j JOIN documents d ON d.uri = j.value;

-- name: chunks_of_document
SELECT c.*, d.id AS document_id
FROM chunks c JOIN documents d ON d.number = c.document
WHERE d.id = ? AND c.version = ?
ORDER BY c.ordinal;

-- name: versions_of_document
SELECT v.version, v.pipeline, v.source_hash, v.made, v.version = d.version AS active,
       (SELECT count(*) FROM chunks c
        WHERE c.document = v.document AND c.version = v.version) AS chunks
FROM versions v JOIN documents d ON d.number = v.document
WHERE d.id = ?
ORDER BY v.version;

-- name: version_text
SELECT v.text FROM versions v JOIN documents d ON d.number = v.document
WHERE d.id = ? AND v.version = ?;

-- name: active_pipelines
SELECT d.id, d.source_hash, v.pipeline
FROM json_each(?) j
JOIN documents d ON d.id = j.value
JOIN versions v ON v.document = d.number AND v.version = d.version;

-- name: scopes
SELECT DISTINCT scope FROM documents;

-- name: quads_of_document
SELECT q.subject, q.predicate, q.object, q.datatype, q.language, q.graph
FROM quads q JOIN documents d ON d.number = q.document AND d.version = q.version
WHERE d.id = ?
ORDER BY q.number;

-- name: models
SELECT m.name, m.fingerprint, m.dimension, m.active,
       (SELECT count(*) FROM vectors v WHERE v.model = m.number) AS vectors
FROM models m ORDER BY m.number;

-- name: vectors_by_hash
SELECT v.hash, v.vector
FROM json_each(:hashes) j
JOIN models m ON m.fingerprint = :fingerprint
JOIN vectors v ON v.hash = j.value AND v.model = m.number;

-- name: active_model
SELECT number, name, fingerprint, dimension FROM models WHERE active = 1;

-- name: model_by_fingerprint
SELECT number, dimension FROM models WHERE fingerprint = ?;

-- name: add_model
INSERT INTO models (name, fingerprint, dimension) VALUES (?, ?, ?)
ON CONFLICT (fingerprint) DO NOTHING;

-- name: deactivate_models
UPDATE models SET active = 0 WHERE active = 1;

-- name: activate_model
UPDATE models SET active = 1 WHERE fingerprint = ?;

-- name: wait_for_vectors
INSERT INTO waiting (model, hash)
SELECT m.number, c.embedding_hash
FROM chunks c, models m
WHERE c.document = ? AND c.version = ? AND c.embedding_hash <> '' AND NOT EXISTS (
  SELECT 1 FROM vectors v WHERE v.hash = c.embedding_hash AND v.model = m.number)
ON CONFLICT DO NOTHING;

-- name: wait_for_vectors_of
INSERT INTO waiting (model, hash)
SELECT m.number, j.value
FROM json_each(?) j
CROSS JOIN models m
WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.hash = j.value AND v.model = m.number)
ON CONFLICT DO NOTHING;

-- name: wait_for_model
INSERT INTO waiting (model, hash)
SELECT m.number, c.embedding_hash
FROM models m, chunks c
JOIN documents d ON d.number = c.document AND d.version = c.version
WHERE m.fingerprint = ? AND c.embedding_hash <> '' AND NOT EXISTS (
  SELECT 1 FROM vectors v WHERE v.hash = c.embedding_hash AND v.model = m.number)
ON CONFLICT DO NOTHING;

-- name: stop_waiting_for_version
DELETE FROM waiting WHERE model IN (SELECT number FROM models) AND hash IN (
  SELECT c.embedding_hash FROM chunks c
  WHERE c.document = :document AND c.version = :version AND NOT EXISTS (
    SELECT 1 FROM chunks o
    JOIN documents d ON d.number = o.document AND d.version = o.version
    WHERE substr(o.embedding_hash, 1, 8) = substr(c.embedding_hash, 1, 8)
      AND o.embedding_hash = c.embedding_hash AND o.document <> :document));

-- name: stop_waiting
DELETE FROM waiting
WHERE model = :model AND hash IN (SELECT j.value FROM json_each(:hashes) j);

-- name: pending
SELECT min(c.number) AS number
FROM (SELECT w.hash FROM waiting w JOIN models m ON m.number = w.model
      WHERE m.fingerprint = :fingerprint AND w.problem = '' LIMIT :limit) w
JOIN chunks c ON substr(c.embedding_hash, 1, 8) = substr(w.hash, 1, 8) AND c.embedding_hash = w.hash
JOIN documents d ON d.number = c.document AND d.version = c.version
GROUP BY w.hash
ORDER BY 1;

-- name: count_pending
SELECT count(*) FROM waiting w JOIN models m ON m.number = w.model
WHERE m.fingerprint = :fingerprint;

-- name: lost_waiting
SELECT count(DISTINCT c.embedding_hash)
FROM chunks c
JOIN documents d ON d.number = c.document AND d.version = c.version
JOIN models m ON m.active = 1
WHERE c.embedding_hash <> ''
  AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.hash = c.embedding_hash AND v.model = m.number)
  AND NOT EXISTS (SELECT 1 FROM waiting w WHERE w.hash = c.embedding_hash AND w.model = m.number);

-- name: records_by_number
SELECT c.*, d.id AS document_id FROM json_each(?) j
JOIN chunks c ON c.number = CAST(j.value AS BIGINT)
JOIN documents d ON d.number = c.document
ORDER BY c.number;

-- name: insert_vector
INSERT INTO vectors (hash, model, vector) VALUES (?, ?, ?)
ON CONFLICT (hash, model) DO UPDATE SET vector = excluded.vector;

-- name: note_vector_changes
INSERT INTO changes (generation, chunk, what)
SELECT :generation, c.number, 'v' FROM json_each(:hashes) j
JOIN chunks c ON substr(c.embedding_hash, 1, 8) = substr(j.value, 1, 8)
             AND c.embedding_hash = j.value;

-- name: counts_by_kind
SELECT kind, count(*) FROM documents GROUP BY kind ORDER BY kind;

-- name: counts_by_scope
SELECT scope, count(*) FROM documents GROUP BY scope ORDER BY scope;

-- name: sources
SELECT name, root FROM sources ORDER BY name;

-- name: add_source
INSERT INTO sources (name, root) VALUES (?, ?) ON CONFLICT DO NOTHING;

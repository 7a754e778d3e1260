-- What `copy` takes from one record to another, table by table in the order of their keys. The key is
-- what stands first in each row.

-- name: rows_of_sources
SELECT name, root
FROM sources WHERE name > ? ORDER BY name LIMIT ?;

-- name: copy_into_sources
INSERT INTO sources (name, root)
VALUES (?, ?);

-- name: count_rows_of_sources
SELECT count(*) FROM sources;

-- name: rows_of_documents
SELECT number, id, uri, kind, title, key, context, media_type, category, scope, type, domain,
  severity, tags, metadata, given, valid_from, valid_until, created, updated, source_hash,
  source_size, source_mtime, version
FROM documents WHERE number > ? ORDER BY number LIMIT ?;

-- name: copy_into_documents
INSERT INTO documents (
  number, id, uri, kind, title, key, context, media_type, category, scope, type, domain, severity,
  tags, metadata, given, valid_from, valid_until, created, updated, source_hash, source_size,
  source_mtime, version)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: count_rows_of_documents
SELECT count(*) FROM documents;

-- name: rows_of_versions
SELECT document, version, pipeline, source_hash, text, made
FROM versions WHERE (document, version) > (?, ?) ORDER BY document, version LIMIT ?;

-- name: copy_into_versions
INSERT INTO versions (document, version, pipeline, source_hash, text, made)
VALUES (?, ?, ?, ?, ?, ?);

-- name: count_rows_of_versions
SELECT count(*) FROM versions;

-- name: rows_of_activations
SELECT rowid, document, version, at, fields, hashes
FROM activations WHERE rowid > ? ORDER BY rowid LIMIT ?;

-- name: copy_into_activations
INSERT INTO activations (rowid, document, version, at, fields, hashes)
VALUES (?, ?, ?, ?, ?, ?);

-- name: count_rows_of_activations
SELECT count(*) FROM activations;

-- name: rows_of_chunks
SELECT number, document, version, ordinal, text, heading, page_first, page_last, "start", "end",
  embedding_hash, subject, predicate, graph
FROM chunks WHERE number > ? ORDER BY number LIMIT ?;

-- name: copy_into_chunks
INSERT INTO chunks (number, document, version, ordinal, text, heading, page_first, page_last, "start", "end",
  embedding_hash, subject, predicate, graph)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: count_rows_of_chunks
SELECT count(*) FROM chunks;

-- name: rows_of_models
SELECT number, name, fingerprint, dimension, active, building
FROM models WHERE number > ? ORDER BY number LIMIT ?;

-- name: copy_into_models
INSERT INTO models (number, name, fingerprint, dimension, active, building)
VALUES (?, ?, ?, ?, ?, ?);

-- name: count_rows_of_models
SELECT count(*) FROM models;

-- name: rows_of_vectors
SELECT model, hash, vector
FROM vectors WHERE model = ? AND hash > ? ORDER BY hash LIMIT ?;

-- name: copy_into_vectors
INSERT INTO vectors (model, hash, vector)
VALUES (?, ?, ?);

-- name: count_rows_of_vectors
SELECT count(*) FROM vectors;

-- name: rows_of_waiting
SELECT model, hash, problem
FROM waiting WHERE (model, hash) > (?, ?) ORDER BY model, hash LIMIT ?;

-- name: copy_into_waiting
INSERT INTO waiting (model, hash, problem)
VALUES (?, ?, ?);

-- name: count_rows_of_waiting
SELECT count(*) FROM waiting;

-- name: rows_of_quads
SELECT number, document, version, subject, predicate, object, datatype, language, graph
FROM quads WHERE number > ? ORDER BY number LIMIT ?;

-- name: copy_into_quads
INSERT INTO quads (number, document, version, subject, predicate, object, datatype, language, graph)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: count_rows_of_quads
SELECT count(*) FROM quads;

-- name: rows_of_prefixes
SELECT document, prefix, iri
FROM prefixes WHERE (document, prefix) > (?, ?) ORDER BY document, prefix LIMIT ?;

-- name: copy_into_prefixes
INSERT INTO prefixes (document, prefix, iri)
VALUES (?, ?, ?);

-- name: count_rows_of_prefixes
SELECT count(*) FROM prefixes;

-- name: rows_of_struck
SELECT subject, predicate, object, datatype, language, graph, verification
FROM struck WHERE (subject, predicate, object, datatype, language, graph) > (?, ?, ?, ?, ?, ?) ORDER BY subject, predicate, object, datatype, language, graph LIMIT ?;

-- name: copy_into_struck
INSERT INTO struck (subject, predicate, object, datatype, language, graph, verification)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: count_rows_of_struck
SELECT count(*) FROM struck;

-- name: rows_of_links
SELECT document, relation, target
FROM links WHERE (document, relation, target) > (?, ?, ?) ORDER BY document, relation, target LIMIT ?;

-- name: copy_into_links
INSERT INTO links (document, relation, target)
VALUES (?, ?, ?);

-- name: count_rows_of_links
SELECT count(*) FROM links;

-- name: rows_of_feedback
SELECT number, at, query, document, verdict, details
FROM feedback WHERE number > ? ORDER BY number LIMIT ?;

-- name: copy_into_feedback
INSERT INTO feedback (number, at, query, document, verdict, details)
VALUES (?, ?, ?, ?, ?, ?);

-- name: count_rows_of_feedback
SELECT count(*) FROM feedback;

-- name: rows_of_ledger
SELECT number, at, entry, previous, hash
FROM ledger WHERE number > ? ORDER BY number LIMIT ?;

-- name: copy_into_ledger
INSERT INTO ledger (number, at, entry, previous, hash)
VALUES (?, ?, ?, ?, ?);

-- name: count_rows_of_ledger
SELECT count(*) FROM ledger;

-- name: rows_of_blobs
SELECT hash, uri
FROM blobs WHERE (hash, uri) > (?, ?) ORDER BY hash, uri LIMIT ?;

-- name: copy_into_blobs
INSERT INTO blobs (hash, uri)
VALUES (?, ?);

-- name: count_rows_of_blobs
SELECT count(*) FROM blobs;

-- name: rows_of_sketches
SELECT band, document
FROM sketches WHERE (band, document) > (?, ?) ORDER BY band, document LIMIT ?;

-- name: copy_into_sketches
INSERT INTO sketches (band, document)
VALUES (?, ?);

-- name: count_rows_of_sketches
SELECT count(*) FROM sketches;

-- name: rows_of_adapters
SELECT source, adapter, watermark
FROM adapters WHERE source > ? ORDER BY source LIMIT ?;

-- name: copy_into_adapters
INSERT INTO adapters (source, adapter, watermark)
VALUES (?, ?, ?);

-- name: count_rows_of_adapters
SELECT count(*) FROM adapters;

-- name: documents_after
SELECT * FROM documents WHERE number > ? ORDER BY number LIMIT ?;

-- name: drop_repeated
DELETE FROM quads WHERE number IN (
  SELECT number FROM (
    SELECT number, row_number() OVER (
      PARTITION BY subject, predicate, object, datatype, language, graph ORDER BY number) AS nth
    FROM quads WHERE document = :document AND version = :version) numbered
  WHERE nth > 1);

-- name: drop_struck
DELETE FROM quads WHERE document = :document AND version = :version AND EXISTS (
  SELECT 1 FROM struck s
  WHERE s.subject = quads.subject AND s.predicate = quads.predicate AND s.object = quads.object
    AND s.datatype = quads.datatype AND s.language = quads.language AND s.graph = quads.graph);

-- name: strings_of_version
SELECT number, subject, predicate, object, datatype, language, graph
FROM quads
WHERE document = :document AND version = :version AND number > :after
  AND datatype IN ('http://www.w3.org/2001/XMLSchema#string',
                   'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString',
                   'http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString')
ORDER BY number LIMIT :limit;

-- name: taken_ordinals
SELECT c.ordinal FROM chunks c
WHERE c.document = :document AND c.version = :version
  AND c.ordinal IN (SELECT CAST(j.value AS BIGINT) FROM json_each(:ordinals) j);

-- name: insert_numbered_chunk
INSERT INTO chunks (number, document, version, ordinal, text, heading, page_first, page_last,
                    "start", "end", embedding_hash, subject, predicate, graph)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: note_change
INSERT INTO changes (generation, chunk, what) VALUES (?, ?, ?);

-- name: label_statements
SELECT q.subject, q.predicate, q.object, q.datatype, q.language, q.graph
FROM json_each(:resources) j
JOIN quads q ON q.subject = j.value
JOIN documents d ON d.number = q.document AND d.version = q.version
WHERE q.predicate IN (SELECT value FROM json_each(:labels)) AND q.datatype <> ''
  AND (CAST(:scopes AS TEXT) IS NULL OR d.scope IN (SELECT value FROM json_each(:scopes)));

-- name: clear_touched
DELETE FROM touched;

-- name: touch_differing_labels
INSERT INTO touched
SELECT subject FROM (
  SELECT subject FROM (
    SELECT subject, predicate, object, language FROM quads
    WHERE document = :document AND version = :old
      AND predicate IN (SELECT value FROM json_each(:labels))
    EXCEPT
    SELECT subject, predicate, object, language FROM quads
    WHERE document = :document AND version = :new
      AND predicate IN (SELECT value FROM json_each(:labels))) gone
  UNION
  SELECT subject FROM (
    SELECT subject, predicate, object, language FROM quads
    WHERE document = :document AND version = :new
      AND predicate IN (SELECT value FROM json_each(:labels))
    EXCEPT
    SELECT subject, predicate, object, language FROM quads
    WHERE document = :document AND version = :old
      AND predicate IN (SELECT value FROM json_each(:labels))) come) differing
WHERE 1 = 1
ON CONFLICT DO NOTHING;

-- name: touched_chunks
SELECT c.number
FROM chunks c JOIN documents d ON d.number = c.document AND d.version = c.version
WHERE c.predicate IS NOT NULL AND c.document <> :document AND c.number IN (
  SELECT x.number FROM touched t JOIN chunks x ON x.subject = t.resource
  UNION
  SELECT x.number FROM chunks x
  WHERE x.subject IS NOT NULL AND x.predicate IN (
    SELECT t.resource FROM touched t
    WHERE EXISTS (SELECT 1 FROM quads q WHERE q.predicate = t.resource)))
ORDER BY c.number;

-- name: chunks_to_rename
SELECT c.number, c.text, c.heading, c.subject, c.predicate, c.graph, c.embedding_hash, c.document
FROM json_each(?) j JOIN chunks c ON c.number = CAST(j.value AS BIGINT) ORDER BY c.number;

-- name: rename_chunk
UPDATE chunks SET heading = ?, embedding_hash = ? WHERE number = ?;

-- name: wait_for_chunk
INSERT INTO waiting (model, hash)
SELECT m.number, :hash FROM models m
WHERE :hash <> '' AND NOT EXISTS (
  SELECT 1 FROM vectors v WHERE v.hash = :hash AND v.model = m.number)
ON CONFLICT DO NOTHING;

-- name: stop_waiting_in_vain
DELETE FROM waiting
WHERE model IN (SELECT number FROM models) AND hash = :hash AND NOT EXISTS (
  SELECT 1 FROM chunks c JOIN documents d ON d.number = c.document AND d.version = c.version
  WHERE substr(c.embedding_hash, 1, 8) = substr(waiting.hash, 1, 8)
    AND c.embedding_hash = waiting.hash);

-- name: documents_stating
SELECT DISTINCT d.number, d.id
FROM quads q JOIN documents d ON d.number = q.document AND d.version = q.version
WHERE q.subject = :subject AND q.predicate = :predicate AND q.object = :object
  AND q.datatype = :datatype AND q.language = :language AND q.graph = :graph;

-- name: copy_quads
INSERT INTO quads (document, version, subject, predicate, object, datatype, language, graph)
SELECT document, :new, subject, predicate, object, datatype, language, graph
FROM quads WHERE document = :document AND version = :old ORDER BY number;

-- name: drop_quad
DELETE FROM quads
WHERE document = :document AND version = :version AND subject = :subject
  AND predicate = :predicate AND object = :object AND datatype = :datatype
  AND language = :language AND graph = :graph;

-- name: strike
INSERT INTO struck (subject, predicate, object, datatype, language, graph, verification)
VALUES (:subject, :predicate, :object, :datatype, :language, :graph, :verification)
ON CONFLICT DO NOTHING;

-- name: statements
SELECT q.subject, q.predicate, q.object, q.datatype, q.language, q.graph,
       d.id, d.uri, q.version, v.made
FROM quads q
JOIN documents d ON d.number = q.document AND d.version = q.version
JOIN versions v ON v.document = q.document AND v.version = q.version
WHERE {where}
  AND (CAST(:scopes AS TEXT) IS NULL OR d.scope IN (SELECT value FROM json_each(:scopes)))
ORDER BY q.subject, q.predicate, q.object, q.datatype, q.language, q.graph, d.id;

-- name: forget_prefixes
DELETE FROM prefixes WHERE document = ?;

-- name: keep_prefix
INSERT INTO prefixes (document, prefix, iri) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: prefixes
SELECT p.prefix, p.iri FROM prefixes p JOIN documents d ON d.number = p.document
WHERE CAST(:scopes AS TEXT) IS NULL OR d.scope IN (SELECT value FROM json_each(:scopes))
ORDER BY p.document DESC, p.prefix;

-- name: sources_of_facts
SELECT d.id, d.number, d.version, d.scope, v.source_hash, v.made
FROM documents d JOIN versions v ON v.document = d.number AND v.version = d.version
WHERE d.kind = 'facts'
  AND (CAST(:scopes AS TEXT) IS NULL OR d.scope IN (SELECT value FROM json_each(:scopes)))
ORDER BY d.id;

-- name: any_facts
SELECT 1 FROM json_each(?) j JOIN quads q ON q.document = CAST(j.value AS BIGINT) LIMIT 1;

-- name: own_chunks
SELECT c.number FROM json_each(?) j
JOIN documents d ON d.number = CAST(j.value AS BIGINT)
JOIN chunks c ON c.document = d.number AND c.version = d.version
WHERE c.predicate IS NOT NULL;

-- name: documents_about
SELECT DISTINCT d.uri
FROM chunks c JOIN documents d ON d.number = c.document AND d.version = c.version
WHERE c.subject = :subject AND c.predicate IS NULL
  AND (CAST(:scopes AS TEXT) IS NULL OR d.scope IN (SELECT value FROM json_each(:scopes)))
ORDER BY d.uri;

-- name: ledger_head
SELECT number, hash FROM ledger ORDER BY number DESC LIMIT 1;

-- name: add_to_ledger
INSERT INTO ledger (number, at, entry, previous, hash) VALUES (?, ?, ?, ?, ?);

-- name: ledger
SELECT number, at, entry, previous, hash FROM ledger ORDER BY number;

-- name: predicates
WITH RECURSIVE found (predicate) AS (
  SELECT min(predicate) FROM quads
  UNION ALL
  SELECT (SELECT min(q.predicate) FROM quads q WHERE q.predicate > f.predicate)
  FROM found f WHERE f.predicate IS NOT NULL
)
SELECT predicate FROM found WHERE predicate IS NOT NULL;

-- name: dangling
SELECT q.subject, q.predicate, q.object, q.datatype, q.language, q.graph,
       d.id, d.uri, q.version, v.made
FROM quads q
JOIN documents d ON d.number = q.document AND d.version = q.version
JOIN versions v ON v.document = q.document AND v.version = q.version
WHERE q.datatype = '' AND q.object NOT LIKE '\_:%' ESCAPE '\' AND q.object NOT LIKE '<<(%'
  AND q.predicate <> 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
  AND (CAST(:scopes AS TEXT) IS NULL OR d.scope IN (SELECT value FROM json_each(:scopes)))
  AND NOT EXISTS (
    SELECT 1 FROM quads o JOIN documents e ON e.number = o.document AND e.version = o.version
    WHERE o.subject = q.object
      AND (CAST(:scopes AS TEXT) IS NULL OR e.scope IN (SELECT value FROM json_each(:scopes))))
ORDER BY q.subject, q.predicate, q.object, q.datatype, q.language, q.graph, d.id;

-- name: dangling_of
SELECT q.subject, q.predicate, q.object, q.datatype, q.language, q.graph,
       d.id, d.uri, q.version, v.made
FROM json_each(:subjects) j
JOIN quads q ON q.subject = j.value
JOIN documents d ON d.number = q.document AND d.version = q.version
JOIN versions v ON v.document = q.document AND v.version = q.version
WHERE q.datatype = '' AND q.object NOT LIKE '\_:%' ESCAPE '\' AND q.object NOT LIKE '<<(%'
  AND q.predicate <> 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
  AND (CAST(:scopes AS TEXT) IS NULL OR d.scope IN (SELECT value FROM json_each(:scopes)))
  AND NOT EXISTS (
    SELECT 1 FROM quads o JOIN documents e ON e.number = o.document AND e.version = o.version
    WHERE o.subject = q.object
      AND (CAST(:scopes AS TEXT) IS NULL OR e.scope IN (SELECT value FROM json_each(:scopes))))
ORDER BY q.subject, q.predicate, q.object, q.datatype, q.language, q.graph, d.id;

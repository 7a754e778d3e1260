-- name: insert_activation
INSERT INTO activations (document, version, at) VALUES (?, ?, ?);

-- name: became_active
SELECT a.at FROM activations a JOIN documents d ON d.number = a.document
WHERE d.id = ? AND a.version = ? ORDER BY a.rowid LIMIT 1;

-- name: scope_of_version
SELECT a.fields, d.scope FROM activations a JOIN documents d ON d.number = a.document
WHERE d.id = ? AND a.version = ? ORDER BY a.rowid DESC LIMIT 1;

-- name: fields_of_version
SELECT fields FROM activations WHERE document = ? AND version = ? ORDER BY rowid DESC LIMIT 1;

-- name: hashes_of_version
SELECT embedding_hash FROM chunks WHERE document = ? AND version = ? ORDER BY ordinal;

-- name: version_exists
SELECT 1 FROM versions WHERE document = ? AND version = ?;

-- name: source_hashes
SELECT d.id, v.version, v.source_hash
FROM versions v JOIN documents d ON d.number = v.document;

-- name: blobs
SELECT b.hash, max(b.uri) AS uri FROM json_each(?) j JOIN blobs b ON b.hash = j.value
GROUP BY b.hash;

-- name: add_blob
INSERT INTO blobs (hash, uri) VALUES (?, ?) ON CONFLICT DO NOTHING;

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

-- name: delete_chunks
DELETE FROM chunks WHERE document = :document AND version = :version;

-- name: delete_quads
DELETE FROM quads WHERE document = :document AND version = :version;

-- name: delete_version
DELETE FROM versions WHERE document = :document AND version = :version;

-- name: bury
-- The row stays: without it, the version before would seem to have been active longer.
UPDATE activations SET fields = '{}', hashes = '{}'
WHERE document = :document AND version = :version;

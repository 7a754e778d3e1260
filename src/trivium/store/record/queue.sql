-- name: forgive
UPDATE waiting SET problem = ''
WHERE problem <> '' AND model = (SELECT number FROM models WHERE fingerprint = ?);

-- name: note_problem
UPDATE waiting SET problem = ?
WHERE hash = ? AND model = (SELECT number FROM models WHERE fingerprint = ?);

-- name: problems
SELECT d.id, c.version, c.ordinal, w.problem
FROM waiting w
JOIN models m ON m.number = w.model
JOIN chunks c ON substr(c.embedding_hash, 1, 8) = substr(w.hash, 1, 8) AND c.embedding_hash = w.hash
JOIN documents d ON d.number = c.document AND d.version = c.version
WHERE m.fingerprint = ? AND w.problem <> ''
ORDER BY d.id, c.version, c.ordinal
LIMIT ?;

-- name: building
SELECT name, fingerprint, dimension FROM models WHERE building = 1 ORDER BY number;

-- name: build
UPDATE models SET building = 1 WHERE fingerprint = ? AND active = 0;

-- name: stop_building
UPDATE models SET building = 0 WHERE fingerprint = ?;

-- name: drop_model
DELETE FROM models WHERE fingerprint = ? AND active = 0;

-- name: waits_for_model
SELECT count(*) FROM waiting w JOIN models m ON m.number = w.model WHERE m.fingerprint = ?;

-- name: forget_outage
DELETE FROM state WHERE key = ?;

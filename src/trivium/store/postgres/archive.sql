-- name: touch_source
UPDATE archive SET used = now() WHERE hash = ?;

-- name: keep_source
INSERT INTO archive (hash, data) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: source
SELECT data FROM archive WHERE hash = ?;

-- name: sources_kept
SELECT a.hash FROM json_each(?) j JOIN archive a ON a.hash = j.value;

-- name: unused_sources
SELECT hash, octet_length(data) AS bytes FROM archive
WHERE used < now() - :grace::interval
  AND hash NOT IN (SELECT value FROM json_each(:referenced));

-- name: forget_source
DELETE FROM archive WHERE hash = ?;

-- name: last_chunk
SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'chunks';

-- name: make_touched
CREATE TEMP TABLE IF NOT EXISTS touched (resource TEXT PRIMARY KEY) WITHOUT ROWID;

-- name: forget_words
DELETE FROM words WHERE rowid = ?;

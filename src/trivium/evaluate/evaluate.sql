-- The statements of evaluation, each under its name.

-- name: make_vectors
CREATE TABLE IF NOT EXISTS vectors (
  model TEXT NOT NULL,            -- fingerprint
  key BLOB NOT NULL,              -- SHA-256 of role and input
  vector BLOB NOT NULL,           -- little-endian float32, unit length
  PRIMARY KEY (model, key)
) WITHOUT ROWID;

-- name: vector
SELECT vector FROM vectors WHERE model = ? AND key = ?;

-- name: keep_vector
INSERT INTO vectors (model, key, vector) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: make_runs
CREATE TABLE IF NOT EXISTS runs (
  key BLOB PRIMARY KEY,           -- SHA-256 of all that made it
  run TEXT NOT NULL               -- JSON: query → ids of documents, best first
) WITHOUT ROWID;

-- name: run
SELECT run FROM runs WHERE key = ?;

-- name: keep_run
INSERT INTO runs (key, run) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: make_words
CREATE VIRTUAL TABLE words USING fts5 (
  id UNINDEXED, title, body, tokenize = 'porter unicode61'
);

-- name: add_words
INSERT INTO words (id, title, body) VALUES (?, ?, ?);

-- name: search_words
SELECT id, -bm25(words, 0, :title, 1) AS score
FROM words
WHERE words MATCH :query
ORDER BY score DESC, id
LIMIT :depth;

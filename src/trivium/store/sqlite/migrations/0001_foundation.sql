-- The record: plain tables for every kind of document. Everything under cache/ is derived from it.

CREATE TABLE state (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- One row for each committed write. The stamp is random: a derived index knows by
-- (generation, stamp) whether it was made from this history or from another copy's.
CREATE TABLE commits (
  generation INTEGER PRIMARY KEY,
  stamp TEXT NOT NULL,
  at TEXT NOT NULL
);

-- Chunks whose words ('w') or vector ('v') a derived index must read again, by generation.
CREATE TABLE changes (
  generation INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  what TEXT NOT NULL CHECK (what IN ('w', 'v'))
);
CREATE INDEX changes_by_generation ON changes (generation);

CREATE TABLE sources (
  name TEXT PRIMARY KEY,
  root TEXT NOT NULL UNIQUE
) WITHOUT ROWID;

CREATE TABLE documents (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  uri TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  key TEXT NOT NULL,
  context TEXT NOT NULL,
  media_type TEXT NOT NULL,
  category TEXT,
  scope TEXT NOT NULL,
  type TEXT,
  domain TEXT,
  severity TEXT,
  tags TEXT NOT NULL,             -- JSON array
  metadata TEXT NOT NULL,         -- JSON object
  given TEXT NOT NULL,            -- JSON object: what was said when it was added
  valid_from TEXT,
  valid_until TEXT,
  created TEXT,
  updated TEXT,
  source_hash TEXT NOT NULL,
  source_size INTEGER NOT NULL,   -- with the time it tells in an instant whether a file changed
  source_mtime INTEGER NOT NULL,  -- nanoseconds
  version INTEGER NOT NULL        -- the active one
);
CREATE INDEX documents_by_scope ON documents (scope);

CREATE TABLE versions (
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  pipeline TEXT NOT NULL,         -- extractor, chunker and settings
  source_hash TEXT NOT NULL,
  text TEXT NOT NULL,             -- as extracted; a chunk is text[start:end]
  made TEXT NOT NULL,
  PRIMARY KEY (document, version)
) WITHOUT ROWID;

-- Which version was active from when on: what `--as-of` needs.
CREATE TABLE activations (
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  at TEXT NOT NULL
);
CREATE INDEX activations_by_document ON activations (document);

CREATE TABLE chunks (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  text TEXT NOT NULL,
  heading TEXT NOT NULL,          -- JSON array, outermost first
  page_first INTEGER,
  page_last INTEGER,
  "start" INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  embedding_hash TEXT NOT NULL,   -- SHA-256 of the exact embedding input
  subject TEXT,
  predicate TEXT,
  graph TEXT,
  UNIQUE (document, version, ordinal)
);
CREATE INDEX chunks_by_embedding_hash ON chunks (embedding_hash);
CREATE INDEX chunks_by_subject ON chunks (subject) WHERE subject IS NOT NULL;

-- The words of active chunks, CJK runs as bigrams; rowid = chunks.number.
CREATE VIRTUAL TABLE words USING fts5 (
  key, title, heading, body, context, tags,
  tokenize = 'porter unicode61'
);

CREATE TABLE models (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  fingerprint TEXT NOT NULL UNIQUE,
  dimension INTEGER NOT NULL,
  active INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX one_active_model ON models (active) WHERE active = 1;

CREATE TABLE vectors (
  hash TEXT NOT NULL,
  model INTEGER NOT NULL REFERENCES models (number) ON DELETE CASCADE,
  vector BLOB NOT NULL,           -- little-endian float32, unit length
  UNIQUE (hash, model)
);

-- Embedding inputs of active chunks that have no vector of a model yet.
CREATE TABLE waiting (
  model INTEGER NOT NULL REFERENCES models (number) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  PRIMARY KEY (model, hash)
) WITHOUT ROWID;

CREATE TABLE quads (
  number INTEGER PRIMARY KEY,
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  subject TEXT NOT NULL,
  predicate TEXT NOT NULL,
  object TEXT NOT NULL,
  datatype TEXT NOT NULL,         -- '' for an IRI or a blank node
  language TEXT NOT NULL,
  graph TEXT NOT NULL
);
CREATE INDEX quads_by_subject ON quads (subject, predicate);
CREATE INDEX quads_by_predicate ON quads (predicate, object);
CREATE INDEX quads_by_document ON quads (document, version);

CREATE TABLE links (
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  target TEXT NOT NULL,
  relation TEXT NOT NULL,
  PRIMARY KEY (document, relation, target)
) WITHOUT ROWID;

CREATE TABLE feedback (
  number INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  query TEXT NOT NULL,
  document TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('accepted', 'dismissed', 'modified', 'failed')),
  details TEXT NOT NULL DEFAULT '{}'
);

CREATE TABLE ledger (
  number INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  entry TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE
);

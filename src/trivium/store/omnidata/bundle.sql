-- The tables of a bundle's databases, and the statements that fill and read them.
-- `index.db` and `memory.db` have the same; in `memory.db` the resources are called memories.

-- name: create_resources
CREATE TABLE omnidata_resources (
  id TEXT NOT NULL PRIMARY KEY,
  uri TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  kind TEXT NOT NULL,
  type TEXT,
  media_type TEXT,
  content_hash TEXT NOT NULL,     -- of the source this was read from
  "blob" TEXT,                    -- the SHA-256 under which blobs/ holds that source, or its text
  text TEXT NOT NULL,             -- as extracted; a chunk is text[start_offset:end_offset]
  metadata TEXT NOT NULL,         -- JSON object
  created_at TEXT,
  updated_at TEXT,
  deleted_at TEXT                 -- not NULL: deleted
);

-- name: create_chunks
CREATE TABLE omnidata_chunks (
  number INTEGER PRIMARY KEY,     -- the rowid by its own name, so that VACUUM keeps it
  id TEXT NOT NULL UNIQUE,
  resource_id TEXT NOT NULL REFERENCES omnidata_resources (id),
  chunk_index INTEGER NOT NULL,
  text TEXT NOT NULL,
  embedding BLOB,                 -- little-endian float32; NULL while it waits
  embedding_model TEXT,
  heading TEXT NOT NULL,          -- JSON array, outermost first
  page_first INTEGER,
  page_last INTEGER,
  start_offset INTEGER NOT NULL,
  end_offset INTEGER NOT NULL,
  subject TEXT,
  predicate TEXT,
  graph TEXT,
  deleted_at TEXT,
  UNIQUE (resource_id, chunk_index)
);

-- name: create_facts
CREATE TABLE omnidata_facts (
  resource_id TEXT NOT NULL REFERENCES omnidata_resources (id),
  subject TEXT NOT NULL,
  predicate TEXT NOT NULL,
  object TEXT NOT NULL,
  datatype TEXT NOT NULL,
  language TEXT NOT NULL,
  graph TEXT NOT NULL
);

-- name: create_facts_index
CREATE INDEX omnidata_facts_by_resource ON omnidata_facts (resource_id);

-- name: create_words
CREATE VIRTUAL TABLE fts_chunks USING fts5 (
  text, content = 'omnidata_chunks', content_rowid = 'number', tokenize = 'porter unicode61'
);

-- name: fill_words
INSERT INTO fts_chunks (fts_chunks) VALUES ('rebuild');

-- name: keep_words_on_insert
CREATE TRIGGER omnidata_chunks_inserted AFTER INSERT ON omnidata_chunks BEGIN
  INSERT INTO fts_chunks (rowid, text) VALUES (new.number, new.text);
END;

-- name: keep_words_on_delete
CREATE TRIGGER omnidata_chunks_deleted AFTER DELETE ON omnidata_chunks BEGIN
  INSERT INTO fts_chunks (fts_chunks, rowid, text) VALUES ('delete', old.number, old.text);
END;

-- name: keep_words_on_update
CREATE TRIGGER omnidata_chunks_updated AFTER UPDATE OF text ON omnidata_chunks BEGIN
  INSERT INTO fts_chunks (fts_chunks, rowid, text) VALUES ('delete', old.number, old.text);
  INSERT INTO fts_chunks (rowid, text) VALUES (new.number, new.text);
END;

-- name: call_them_memories
ALTER TABLE omnidata_resources RENAME TO omnidata_memories;

-- name: insert_resource
INSERT INTO omnidata_resources (id, uri, title, kind, type, media_type, content_hash, "blob", text,
                                metadata, created_at, updated_at)
VALUES (:id, :uri, :title, :kind, :type, :media_type, :content_hash, :blob, :text,
        :metadata, :created_at, :updated_at);

-- name: insert_chunk
INSERT INTO omnidata_chunks (id, resource_id, chunk_index, text, embedding, embedding_model,
                             heading, page_first, page_last, start_offset, end_offset,
                             subject, predicate, graph)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_fact
INSERT INTO omnidata_facts (resource_id, subject, predicate, object, datatype, language, graph)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: tables
SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0;

-- name: facts_of
SELECT subject, predicate, object, datatype, language, graph
FROM omnidata_facts WHERE resource_id = ? ORDER BY rowid;

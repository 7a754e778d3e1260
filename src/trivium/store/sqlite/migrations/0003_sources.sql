-- What keeping up with sources needs: which files are the same, which texts are alike.

-- A file that moved is found again by its content.
CREATE INDEX documents_by_source_hash ON documents (source_hash);

-- Bands of the MinHash sketches of texts: whoever shares one is worth comparing. A row may be
-- older than the document's text, or than its removal: the texts themselves decide.
CREATE TABLE sketches (
  band INTEGER NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (band, document)
) WITHOUT ROWID;

-- Sources that an adapter reads, and how far it has read.
CREATE TABLE adapters (
  source TEXT PRIMARY KEY REFERENCES sources (name) ON DELETE CASCADE,
  adapter TEXT NOT NULL,
  watermark TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX links_by_target ON links (target);

-- Writing that costs the same however large the library is.

-- Bands of sketches that are not yet in their places among `sketches`. A text has sixteen of them,
-- which lie anywhere: put there a few thousand texts at a time, each page is written once for many.
CREATE TABLE fresh_sketches (
  band INTEGER NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (band, document)
) WITHOUT ROWID;

-- So many pieces of the word index of one size are merged at a time; with FTS5's own four each word
-- is written more often.
INSERT INTO words (words, rank) VALUES ('automerge', 8);

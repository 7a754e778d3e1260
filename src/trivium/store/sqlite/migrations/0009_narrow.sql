-- Writing that touches fewer pages.

-- Hashes lie anywhere in an index, so each batch of texts touches most of its pages. Eight letters
-- tell nearly all of them apart, and take a quarter of the pages that whole hashes take.
DROP INDEX documents_by_source_hash;
CREATE INDEX documents_by_source_hash ON documents (substr(source_hash, 1, 8));

DROP INDEX chunks_by_embedding_hash;
CREATE INDEX chunks_by_embedding_hash ON chunks (substr(embedding_hash, 1, 8));

-- So many bytes of words are kept in memory before they become a piece of the word index: a write
-- of two thousand texts makes one piece instead of three, and less is to be merged.
INSERT INTO words (words, rank) VALUES ('hashsize', 8388608);

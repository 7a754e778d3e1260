-- Writing that merges the word index less often.

-- So many pieces of one size may lie side by side before they are merged: each word of an import of
-- a hundred thousand texts was written twice. Searches do not go by this index, and whoever asks it
-- looks a word up in each piece.
INSERT INTO words (words, rank) VALUES ('automerge', 64);

-- Only beyond this many are they merged at once, whatever it takes; it has to be more.
INSERT INTO words (words, rank) VALUES ('crisismerge', 128);

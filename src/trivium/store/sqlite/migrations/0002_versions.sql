-- What a document said at each moment of its past, where its sources are kept, which texts failed.

-- From `at` on, the version was active and the document had these fields (JSON of its row) and its
-- chunks these embedding hashes (JSON, by ordinal). NULL: as they are now. What was never changed
-- is kept once; what is changed is written down here before it goes.
ALTER TABLE activations ADD COLUMN fields TEXT;
ALTER TABLE activations ADD COLUMN hashes TEXT;

-- Source files that also lie in blob storage, by the hash that versions have.
CREATE TABLE blobs (
  hash TEXT NOT NULL,
  uri TEXT NOT NULL,
  PRIMARY KEY (hash, uri)
) WITHOUT ROWID;

-- Why a text that waits was refused the last time; '' while it was not tried.
ALTER TABLE waiting ADD COLUMN problem TEXT NOT NULL DEFAULT '';

-- A model that is built beside the active one: what is added is embedded for it, too.
ALTER TABLE models ADD COLUMN building INTEGER NOT NULL DEFAULT 0;

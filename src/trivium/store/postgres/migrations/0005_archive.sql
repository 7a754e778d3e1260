-- The files that documents were read from, by the SHA-256 that versions have.
CREATE TABLE archive (
  hash text COLLATE "C" PRIMARY KEY,
  data bytea NOT NULL,
  used timestamptz NOT NULL DEFAULT now()
);

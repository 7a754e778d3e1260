-- Keys: who may ask from elsewhere, and what they may see. The key itself is kept nowhere.

CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE,      -- SHA-256 of the key
  role TEXT NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
  scopes TEXT,                    -- JSON array; NULL: every scope
  created TEXT NOT NULL,
  expires TEXT,
  revoked TEXT
) WITHOUT ROWID;

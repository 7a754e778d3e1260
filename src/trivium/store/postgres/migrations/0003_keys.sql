-- Keys: who may ask from elsewhere, and what they may see. The key itself is kept nowhere.

CREATE TABLE keys (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  hash text COLLATE "C" NOT NULL UNIQUE,  -- SHA-256 of the key
  role text COLLATE "C" NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
  scopes text,                            -- JSON array; NULL: every scope
  created text COLLATE "C" NOT NULL,
  expires text COLLATE "C",
  revoked text COLLATE "C"
);

-- Facts: what refers to a resource, prefixes as files declare them, what was struck by a decision.

CREATE INDEX quads_by_object ON quads (object) WHERE datatype = '';

CREATE TABLE prefixes (
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  prefix TEXT NOT NULL,
  iri TEXT NOT NULL,
  PRIMARY KEY (document, prefix)
) WITHOUT ROWID;

-- Statements that a verification rejected or superseded: an import leaves them out.
CREATE TABLE struck (
  subject TEXT NOT NULL,
  predicate TEXT NOT NULL,
  object TEXT NOT NULL,
  datatype TEXT NOT NULL,
  language TEXT NOT NULL,
  graph TEXT NOT NULL,
  verification TEXT NOT NULL,
  PRIMARY KEY (subject, predicate, object, datatype, language, graph)
) WITHOUT ROWID;

-- The ledger only grows. Whoever removes these triggers is still found out by the hashes.
CREATE TRIGGER ledger_is_not_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER ledger_is_not_shortened BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

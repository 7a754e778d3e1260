-- name: add_key
INSERT INTO keys (id, name, hash, role, scopes, created, expires)
VALUES (:id, :name, :hash, :role, :scopes, :created, :expires);

-- name: keys
SELECT id, name, role, scopes, created, expires, revoked FROM keys ORDER BY created, id;

-- name: key_by_hash
SELECT id, name, role, scopes, created, expires, revoked FROM keys WHERE hash = ?;

-- name: key_name_is_taken
SELECT 1 FROM keys WHERE name = ?;

-- name: revoke_key
UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL;

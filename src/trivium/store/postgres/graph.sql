-- name: last_chunk
-- Takes as many numbers as there are chunks to come.
SELECT setval(numbers.name, nextval(numbers.name) + :count) - :count
FROM (SELECT pg_get_serial_sequence('chunks', 'number')::regclass AS name) AS numbers;

-- name: make_touched
CREATE TEMP TABLE IF NOT EXISTS touched (resource text COLLATE "C") ON COMMIT DELETE ROWS;

-- name: forget_words
DELETE FROM words WHERE chunk = ?;

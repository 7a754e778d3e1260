-- name: numbers_go_on
SELECT setval(pg_get_serial_sequence('documents', 'number'), coalesce(max(number), 0) + 1, false)
FROM documents
UNION ALL
SELECT setval(pg_get_serial_sequence('chunks', 'number'), coalesce(max(number), 0) + 1, false)
FROM chunks
UNION ALL
SELECT setval(pg_get_serial_sequence('activations', 'rowid'), coalesce(max(rowid), 0) + 1, false)
FROM activations
UNION ALL
SELECT setval(pg_get_serial_sequence('models', 'number'), coalesce(max(number), 0) + 1, false)
FROM models
UNION ALL
SELECT setval(pg_get_serial_sequence('quads', 'number'), coalesce(max(number), 0) + 1, false)
FROM quads
UNION ALL
SELECT setval(pg_get_serial_sequence('feedback', 'number'), coalesce(max(number), 0) + 1, false)
FROM feedback
UNION ALL
SELECT setval(pg_get_serial_sequence('ledger', 'number'), coalesce(max(number), 0) + 1, false)
FROM ledger;

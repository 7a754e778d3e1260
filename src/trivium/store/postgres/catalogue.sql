-- name: keep_sketch
INSERT INTO sketches (band, document)
SELECT CAST(j.value AS BIGINT), d.number FROM documents d, json_each(:bands) j
WHERE d.id = :document
ON CONFLICT DO NOTHING;

-- name: count_fresh_sketches
SELECT 0;

-- name: settle_sketches
SELECT 1;  -- they are in their places

-- name: forget_fresh_sketches
SELECT 1;

-- name: sharing_bands
SELECT s.band, d.number, d.id
FROM json_each(:bands) j
CROSS JOIN LATERAL (
  SELECT o.band, o.document FROM sketches o JOIN documents e ON e.number = o.document
  WHERE o.band = CAST(j.value AS BIGINT) ORDER BY o.document LIMIT :most) s
JOIN documents d ON d.number = s.document
ORDER BY s.document;

-- name: keep_sketch
INSERT INTO fresh_sketches (band, document)
SELECT CAST(j.value AS BIGINT), d.number FROM documents d, json_each(:bands) j
WHERE d.id = :document
ON CONFLICT DO NOTHING;

-- name: count_fresh_sketches
SELECT count(*) FROM fresh_sketches;

-- name: settle_sketches
INSERT INTO sketches (band, document)
SELECT band, document FROM fresh_sketches WHERE true ORDER BY band, document
ON CONFLICT DO NOTHING;

-- name: forget_fresh_sketches
DELETE FROM fresh_sketches;

-- name: sharing_bands
SELECT s.band, d.number, d.id
FROM json_each(:bands) j
JOIN sketches s ON s.band = CAST(j.value AS BIGINT) AND s.document <= coalesce((
  SELECT o.document FROM sketches o JOIN documents e ON e.number = o.document
  WHERE o.band = CAST(j.value AS BIGINT) ORDER BY o.document LIMIT 1 OFFSET :most - 1
), 9223372036854775807)
JOIN documents d ON d.number = s.document
UNION
SELECT s.band, d.number, d.id
FROM json_each(:bands) j
JOIN fresh_sketches s ON s.band = CAST(j.value AS BIGINT) AND s.document <= coalesce((
  SELECT o.document FROM fresh_sketches o JOIN documents e ON e.number = o.document
  WHERE o.band = CAST(j.value AS BIGINT) ORDER BY o.document LIMIT 1 OFFSET :most - 1
), 9223372036854775807)
JOIN documents d ON d.number = s.document
ORDER BY 2;

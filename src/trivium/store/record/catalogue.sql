-- name: documents_by_source_hash
SELECT d.* FROM json_each(?) j
JOIN documents d ON substr(d.source_hash, 1, 8) = substr(j.value, 1, 8)
                AND d.source_hash = j.value
ORDER BY d.number;

-- name: documents_below
SELECT * FROM documents WHERE uri >= :first AND uri < :end ORDER BY uri;

-- name: adapters
SELECT a.source, a.adapter, a.watermark, s.root
FROM adapters a JOIN sources s ON s.name = a.source ORDER BY a.source;

-- name: keep_adapter
INSERT INTO adapters (source, adapter, watermark) VALUES (:source, :adapter, :watermark)
ON CONFLICT (source) DO UPDATE SET adapter = excluded.adapter, watermark = excluded.watermark;

-- name: forget_links
DELETE FROM links WHERE document = (SELECT number FROM documents WHERE id = :document);

-- name: keep_link
INSERT INTO links (document, target, relation)
SELECT number, :target, :relation FROM documents WHERE id = :document
ON CONFLICT DO NOTHING;

-- name: links
SELECT l.target, l.relation FROM links l JOIN documents d ON d.number = l.document
WHERE d.id = ? ORDER BY l.relation, l.target;

-- name: links_to
SELECT d.id, l.relation FROM links l JOIN documents d ON d.number = l.document
WHERE l.target = ? ORDER BY l.relation, d.id;

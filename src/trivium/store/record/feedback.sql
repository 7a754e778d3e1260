-- name: add_judgement
INSERT INTO feedback (at, query, document, verdict) VALUES (?, ?, ?, ?);

-- name: count_judgements
SELECT f.verdict, d.scope, count(*) AS judgements
FROM feedback f JOIN documents d ON d.id = f.document
GROUP BY f.verdict, d.scope;

-- name: judgements
SELECT f.query, f.document, f.verdict, d.scope
FROM feedback f JOIN documents d ON d.id = f.document
ORDER BY f.number;

-- name: unindexed_rows
SELECT c.number AS chunk_number, c.version AS chunk_version, c.ordinal, c.text, c.heading,
       c.subject, c.predicate, c.graph, c.embedding_hash, d.*
FROM words w
JOIN chunks c ON c.number = w.chunk
JOIN documents d ON d.number = c.document
WHERE w.generation > coalesce((SELECT max(last) FROM segments), 0);

-- name: revive
DELETE FROM dead WHERE generation > coalesce((SELECT max(last) FROM segments), 0);

-- name: index_state
SELECT c.generation, c.stamp, s.newest, s.count
FROM (SELECT coalesce(max(number), 0) AS newest, count(*) AS count FROM segments) s, commits c
ORDER BY c.generation DESC LIMIT 1;

-- name: segment_keys
SELECT s.number, s.first, s.last, s.chunks, c.stamp
FROM segments s JOIN commits c ON c.generation = s.last
ORDER BY s.first;

-- name: segment_rows
SELECT number, layout, arrays FROM segments WHERE number = ANY(:segments);

-- name: dead_chunks
SELECT generation, chunk FROM dead;

-- name: postings_of_terms
SELECT term, segment, rows, body, extra_posting, extra_column, extra_count
FROM postings WHERE term = ANY(:terms);

-- name: places_of_terms
SELECT term, word, segment, positions
FROM places WHERE term = ANY(:terms)
ORDER BY term, word;

-- name: places_with_prefix
SELECT term, word, segment, positions
FROM places WHERE term >= :first AND term < :end
ORDER BY term, word;

-- name: postings_of_segments
SELECT term, segment, rows, body, extra_posting, extra_column, extra_count
FROM postings WHERE segment = ANY(:segments);

-- name: places_of_segments
SELECT term, word, segment, positions
FROM places WHERE segment = ANY(:segments)
ORDER BY term, word;

-- name: add_segment
INSERT INTO segments (first, last, chunks, layout, arrays)
VALUES (:first, :last, :chunks, :layout, :arrays)
RETURNING number;

-- name: add_postings
COPY postings (term, segment, rows, body, extra_posting, extra_column, extra_count)
FROM STDIN (FORMAT binary);

-- name: add_places
COPY places (word, term, segment, positions) FROM STDIN (FORMAT binary);

-- name: add_terms
INSERT INTO terms (word, length)
SELECT word, char_length(word) FROM unnest(:words::text[]) AS word
ON CONFLICT DO NOTHING;

-- name: drop_segments
WITH gone AS (DELETE FROM segments WHERE number = ANY(:segments)),
     gone_postings AS (DELETE FROM postings WHERE segment = ANY(:segments))
DELETE FROM places WHERE segment = ANY(:segments);

-- name: drop_dead
DELETE FROM dead WHERE generation BETWEEN :first AND :last;

-- name: ask_for_similarity
SELECT set_config('pg_trgm.similarity_threshold', :least, true);

-- name: similar_words
SELECT word FROM terms
WHERE word % :word AND length BETWEEN :shortest AND :longest
ORDER BY similarity(word, :word) DESC, word
LIMIT :limit OFFSET :offset;

-- name: sees_letters
SELECT cardinality(show_trgm('кот')) > 0;

-- name: beyond_ascii
SELECT word FROM terms
WHERE octet_length(word) > length AND length BETWEEN :shortest AND :longest;

-- name: words_starting
SELECT word FROM terms WHERE word >= :first AND word < :end
ORDER BY length, word
LIMIT :limit OFFSET :offset;

-- name: where_words_stand
SELECT p.word, p.segment, CASE WHEN p.segment = ANY(:partly) THEN p.positions END AS positions
FROM unnest(:terms::text[], :words::text[]) AS w (term, word)
JOIN places p ON p.term = w.term AND p.word = w.word;

-- name: how_often_terms_stand
SELECT term, segment, octet_length(rows) AS bytes,
       CASE WHEN segment = ANY(:partly) THEN rows END AS rows
FROM postings WHERE term = ANY(:terms);

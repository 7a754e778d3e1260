-- name: model
SELECT number, fingerprint, dimension FROM models
WHERE (:fingerprint::text IS NULL AND active = 1) OR fingerprint = :fingerprint;

-- name: products_of_few
SELECT string_agg(int8send(c.number) || float8send(-(v.vector <#> :query)), ''::bytea)
FROM unnest(:numbers::bigint[]) AS n (number)
JOIN chunks c ON c.number = n.number
JOIN vectors v ON v.hash = c.embedding_hash AND v.model = :model;

-- name: products_of_many
SELECT string_agg(int8send(c.number) || float8send(-(v.vector <#> :query)), ''::bytea)
FROM words w
JOIN chunks c ON c.number = w.chunk
JOIN vectors v ON v.hash = c.embedding_hash AND v.model = :model
WHERE CASE WHEN w.chunk < :end THEN get_bit(:mask, w.chunk) = 1 ELSE false END;

-- name: vectors_of_numbers
SELECT c.number, v.vector
FROM unnest(:numbers::bigint[]) AS n (number)
JOIN chunks c ON c.number = n.number
JOIN vectors v ON v.hash = c.embedding_hash AND v.model = :model;

-- name: waiting_numbers
SELECT c.number FROM waiting w JOIN chunks c ON c.embedding_hash = w.hash
WHERE w.model = :model;

-- name: sample
SELECT c.number, -(v.vector <#> :query) AS product
FROM (SELECT hash, vector FROM vectors WHERE model = :model ORDER BY hash LIMIT :count) v
JOIN chunks c ON c.embedding_hash = v.hash
JOIN words w ON w.chunk = c.number;

-- name: index_of_model
SELECT i.indisvalid AS valid
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relname = :name;

-- name: search_the_graph
SELECT set_config('hnsw.ef_search', :width, true),
       set_config('hnsw.iterative_scan', 'strict_order', true),
       set_config('hnsw.max_scan_tuples', '2147483647', true),
       set_config('enable_seqscan', 'off', true),  -- the planner knows nothing of our limits
       set_config('enable_sort', 'off', true);

-- name: search_as_before
SELECT set_config('enable_seqscan', 'on', true), set_config('enable_sort', 'on', true);

-- name: begin_graph
SELECT pg_try_advisory_lock(hashtextextended(current_schema() || '.' || :name, 1)) AS free;

-- name: end_graph
SELECT pg_advisory_unlock(hashtextextended(current_schema() || '.' || :name, 1));

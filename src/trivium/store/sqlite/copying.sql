-- name: numbers_go_on
SELECT 1;  -- what is inserted under a number raises the next one by itself

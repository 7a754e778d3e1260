-- Searching by the server's own full-text search (own_search.py).

-- The configuration that words are stored in and queries are read in, `english` if none is said.
CREATE FUNCTION text_search() RETURNS regconfig LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT value FROM state WHERE key = 'text_search'), 'english')::regconfig
$$;

-- The searchable columns by weight: key and title A, heading B, context and tags C, body D. Headings
-- have a weight of their own, because document 001 searches heading and content and nothing else.
-- A tsvector holds a megabyte at most: of a text that is longer than any chunk, the beginning must do.
CREATE OR REPLACE FUNCTION word_vector(
  key text, title text, heading text, body text, context text, tags text
) RETURNS tsvector LANGUAGE sql STABLE AS $$
  SELECT setweight(to_tsvector(language, left(key || ' ' || title, 10000)), 'A')
      || setweight(to_tsvector(language, left(heading, 10000)), 'B')
      || setweight(to_tsvector(language, left(context || ' ' || tags, 10000)), 'C')
      || setweight(to_tsvector(language, left(body, 100000)), 'D')
  FROM text_search() AS configured (language)
$$;

-- What is there already is made anew. Runs of CJK signs are pairs again with their next version.
UPDATE words w
SET vector = word_vector(
  d.key, d.title, (SELECT coalesce(string_agg(value, ' '), '') FROM json_each(c.heading)), c.text,
  d.context, (SELECT coalesce(string_agg(value, ' '), '') FROM json_each(d.tags)))
FROM chunks c JOIN documents d ON d.number = c.document
WHERE c.number = w.chunk;

-- Words of one configuration are not found by queries of another.
CREATE FUNCTION keep_text_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM words) THEN
    RAISE EXCEPTION 'the words of this library are stored in the text-search configuration %',
      text_search()
    USING ERRCODE = 'object_not_in_prerequisite_state',
          HINT = 'Make another library with the other configuration and add the sources to it.';
  END IF;
  RETURN coalesce(new, old);
END
$$;
CREATE TRIGGER text_search_is_not_changed BEFORE INSERT OR UPDATE ON state
FOR EACH ROW WHEN (new.key = 'text_search') EXECUTE FUNCTION keep_text_search();
CREATE TRIGGER text_search_is_not_forgotten BEFORE DELETE ON state
FOR EACH ROW WHEN (old.key = 'text_search') EXECUTE FUNCTION keep_text_search();

CREATE AGGREGATE any_query(tsquery) (sfunc = tsquery_or, stype = tsquery);

-- How well words answer a query: 1 and more if they match it as it is written, less than 1 if only
-- loosely, NULL if not at all or if none of its words is held. Columns of other weights than
-- `letters` are as if they were not there. Rank: without statistics of the library, over the logarithm
-- of the number of words (16), and brought below 1 (32). Of the normalisations 0, 1, 2 and 16, with
-- ts_rank and ts_rank_cd, it was best on srd51 and .002 of nDCG behind 1 on cranfield.
CREATE FUNCTION text_score(
  words tsvector, letters "char"[], weights float4[], held tsquery, written tsquery, loosely tsquery
) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN NOT ts_filter(words, letters) @@ held THEN NULL
    WHEN ts_filter(words, letters) @@ written
    THEN 1 + ts_rank(weights, ts_filter(words, letters), held, 48)
    WHEN ts_filter(words, letters) @@ loosely
    THEN ts_rank(weights, ts_filter(words, letters), held, 48)
  END
$$;

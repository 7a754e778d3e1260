-- Lists are bound as JSON, and read by the name that SQLite has for it. PostgreSQL's text cannot
-- hold NUL, so no value that is looked for does.
CREATE FUNCTION json_each(list text) RETURNS TABLE (key bigint, value text)
LANGUAGE sql IMMUTABLE AS $$
  SELECT e.place - 1, e.value
  FROM jsonb_array_elements_text(replace(list, '\u0000', '\ufffd')::jsonb)
       WITH ORDINALITY AS e (value, place)
$$;

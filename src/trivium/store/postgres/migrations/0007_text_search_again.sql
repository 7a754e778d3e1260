-- The text-search configuration may change, if the words change with it (use_text_search in store.py).
CREATE OR REPLACE FUNCTION keep_text_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM words)
     AND current_setting('trivium.stores_words_anew', true) IS DISTINCT FROM 'yes' THEN
    RAISE EXCEPTION 'the words of this library are stored in the text-search configuration %',
      text_search()
    USING ERRCODE = 'object_not_in_prerequisite_state',
          HINT = 'To store them anew in another one, run: trivium optimize --text-search NAME';
  END IF;
  RETURN coalesce(new, old);
END
$$;

"""The stemmer of FTS5's `porter` tokenizer, word for word."""

from __future__ import annotations

_Rules = dict[str, tuple[tuple[str, str], ...]]

_SHORTEST_STEMMED, _LONGEST_STEMMED = 3, 64
_LONGEST_INDEXED = 32768
_STEM_CACHE_SIZE = 1_000_000

_STEMMED_ENDINGS = frozenset("cdegilmnrstuy")
"""The last letters that at least one step looks at."""

# The rules of a step stand under the last letter but one of their suffixes. The first suffix
# that fits decides, whether its condition holds or not.
_STEP_2: _Rules = {
    "a": (("ational", "ate"), ("tional", "tion")),
    "c": (("enci", "ence"), ("anci", "ance")),
    "e": (("izer", "ize"),),
    "g": (("logi", "log"),),
    "l": (("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    "o": (("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    "s": (("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
    "t": (("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
}
_STEP_3: _Rules = {
    "a": (("ical", "ic"),),
    "s": (("ness", ""),),
    "t": (("icate", "ic"), ("iciti", "ic")),
    "u": (("ful", ""),),
    "v": (("ative", ""),),
    "z": (("alize", "al"),),
}
_STEP_4: _Rules = {
    "a": (("al", ""),),
    "c": (("ance", ""), ("ence", "")),
    "e": (("er", ""),),
    "i": (("ic", ""),),
    "l": (("able", ""), ("ible", "")),
    "n": (("ant", ""), ("ement", ""), ("ment", ""), ("ent", "")),
    "o": (("ion", ""), ("ou", "")),
    "s": (("ism", ""),),
    "t": (("ate", ""), ("iti", "")),
    "u": (("ous", ""),),
    "v": (("ive", ""),),
    "z": (("ize", ""),),
}

_SOUNDS = {code: "v" if chr(code) in "aeiou" else "c" for code in range(256)} | {ord("y"): "y"}


def stem(word: str) -> str:
    """FTS5's `porter` of one folded token; repeated calls are one dictionary lookup.

    Words under 3 or over 64 bytes of UTF-8 are not stemmed, and a term ends at 32,768 bytes, as
    in FTS5's index. FTS5 works on bytes and in rare cases cuts a character beyond ASCII in two;
    what is left of it is then U+FFFD here.
    """
    return STEMS[word]


class _Stems(dict[str, str]):
    """Stems by word, worked out when first asked for; emptied when it has grown too large."""

    def __missing__(self, word: str) -> str:
        term = _stem(word)
        if len(word) <= _LONGEST_STEMMED:
            if len(self) >= _STEM_CACHE_SIZE:
                self.clear()
            self[word] = term
        return term


STEMS = _Stems()


def _stem(word: str) -> str:
    if word.isascii():
        size = len(word)
        if size > _LONGEST_STEMMED:
            return word[:_LONGEST_INDEXED]
        return word if size < _SHORTEST_STEMMED else _porter(word)
    return _stem_bytes(word)


def _stem_bytes(word: str) -> str:
    """FTS5 counts and cuts bytes, so each byte stands as one character while the steps run."""
    encoded = word.encode("utf-8", "surrogatepass")
    if len(encoded) > _LONGEST_STEMMED:
        if len(encoded) <= _LONGEST_INDEXED:
            return word
        return encoded[:_LONGEST_INDEXED].decode("utf-8", "replace")
    stemmed = _porter(encoded.decode("latin-1")).encode("latin-1")
    return word if stemmed == encoded else stemmed.decode("utf-8", "replace")


def _porter(word: str) -> str:
    if word[-1] not in _STEMMED_ENDINGS:
        return word
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _apply(_STEP_2, word, 0)
    word = _apply(_STEP_3, word, 0)
    word = _apply(_STEP_4, word, 1)
    return _step_5b(_step_5a(word))


def _step_1a(word: str) -> str:
    if not word.endswith("s") or word.endswith("ss"):
        return word
    if (word.endswith("sses") and len(word) > 4) or (word.endswith("ies") and len(word) > 3):
        return word[:-2]
    return word[:-1]


def _step_1b(word: str) -> str:
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and len(word) > len(suffix):
            start = word[: -len(suffix)]
            return _mend(start) if "v" in _sounds(start) else word
    return word


def _mend(word: str) -> str:
    """Give a word that lost "ed" or "ing" the ending it has elsewhere."""
    if len(word) > 2 and word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word[-1] == word[-2:-1] and word[-1] not in "aeioulsz":
        return word[:-1]
    if _measure(word) == 1 and _ends_short(word):
        return word + "e"
    return word


def _step_1c(word: str) -> str:
    if word.endswith("y") and "v" in _sounds(word[:-1]):
        return word[:-1] + "i"
    return word


def _apply(rules: _Rules, word: str, measure: int) -> str:
    """Replace the first suffix that fits, if what stands before it measures more than asked."""
    for suffix, replacement in rules.get(word[-2:-1], ()):
        if word.endswith(suffix) and len(word) > len(suffix):
            start = word[: -len(suffix)]
            if suffix == "ion" and start[-1] not in "st":
                return word
            return start + replacement if _measure(start) > measure else word
    return word


def _step_5a(word: str) -> str:
    if not word.endswith("e"):
        return word
    start = word[:-1]
    measure = _measure(start)
    if measure > 1 or (measure == 1 and not _ends_short(start)):
        return start
    return word


def _step_5b(word: str) -> str:
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    return _sounds(word).count("vc")


def _ends_short(word: str) -> bool:
    """Whether the word ends in consonant, vowel, consonant, the last not w, x or y."""
    return _sounds(word).endswith("cvc") and word[-1] not in "wxy"


def _sounds(word: str) -> str:
    """The word with "v" for each vowel and "c" for each consonant; y is a vowel after one."""
    sounds = word.translate(_SOUNDS)
    if "y" not in sounds:
        return sounds
    resolved = ""
    for sound in sounds:
        if sound == "y":
            sound = "v" if resolved.endswith("c") else "c"
        resolved += sound
    return resolved

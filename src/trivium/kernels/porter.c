/* The stemmer of FTS5's `porter`, as stemmer.py has it: the same bytes for the same bytes. */
#include "kernels.h"
#include <string.h>

/* A word on its way to its stem: bytes, and how many of them are left. */
typedef struct {
    char *at;
    int size;
} Word;

typedef struct {
    const char *suffix, *replacement;
} Rule;

/* In each list the first suffix that fits decides, whether its condition holds or not. */
static const Rule STEP_2[] = {
    {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},    {"anci", "ance"},
    {"izer", "ize"},    {"logi", "log"},    {"bli", "ble"},      {"alli", "al"},
    {"entli", "ent"},   {"eli", "e"},       {"ousli", "ous"},    {"ization", "ize"},
    {"ation", "ate"},   {"ator", "ate"},    {"alism", "al"},     {"iveness", "ive"},
    {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},     {"iviti", "ive"},
    {"biliti", "ble"},  {NULL, NULL},
};
static const Rule STEP_3[] = {
    {"ical", "ic"}, {"ness", ""},  {"icate", "ic"}, {"iciti", "ic"},
    {"ful", ""},    {"ative", ""}, {"alize", "al"}, {NULL, NULL},
};
static const Rule STEP_4[] = {
    {"al", ""},  {"ance", ""}, {"ence", ""},  {"er", ""},   {"ic", ""},  {"able", ""}, {"ible", ""},
    {"ant", ""}, {"ement", ""}, {"ment", ""}, {"ent", ""},  {"ion", ""}, {"ou", ""},   {"ism", ""},
    {"ate", ""}, {"iti", ""},  {"ous", ""},   {"ive", ""},  {"ize", ""}, {NULL, NULL},
};

static int
is_vowel(char letter)
{
    return letter == 'a' || letter == 'e' || letter == 'i' || letter == 'o' || letter == 'u';
}

/* 1 for each vowel; y is one after a consonant. What is known of the last sounds, while they pass:
 * how often a vowel was followed by a consonant, whether there was a vowel at all, and the last
 * three sounds as bits. */
typedef struct {
    int measure, vowels, last;
} Sounds;

static Sounds
sounds(const char *at, int size)
{
    Sounds found = {0, 0, 0};
    int before = 1; /* as if after a vowel: a y that comes first is a consonant */
    for (int i = 0; i < size; i++) {
        int vowel = at[i] == 'y' ? !before : is_vowel(at[i]);
        found.measure += i && before && !vowel;
        found.vowels |= vowel;
        found.last = ((found.last << 1) | vowel) & 7;
        before = vowel;
    }
    return found;
}

static int
ends(Word word, const char *suffix)
{
    int size = (int)strlen(suffix);
    return word.size >= size && !memcmp(word.at + word.size - size, suffix, (size_t)size);
}

/* Whether it ends in consonant, vowel, consonant, the last not w, x or y. */
static int
ends_short(Word word, Sounds of)
{
    char last = word.size ? word.at[word.size - 1] : 'x';
    return word.size >= 3 && of.last == 2 && last != 'w' && last != 'x' && last != 'y';
}

static Word
apply(const Rule *rules, Word word, int measure)
{
    for (; rules->suffix; rules++) {
        int size = (int)strlen(rules->suffix), left = word.size - size;
        if (left <= 0 || !ends(word, rules->suffix))
            continue;
        if (!strcmp(rules->suffix, "ion") && word.at[left - 1] != 's' && word.at[left - 1] != 't')
            return word;
        if (sounds(word.at, left).measure > measure) {
            size_t more = strlen(rules->replacement);
            memcpy(word.at + left, rules->replacement, more); /* never longer than the suffix */
            word.size = left + (int)more;
        }
        return word;
    }
    return word;
}

static Word
step_1a(Word word)
{
    if (!ends(word, "s") || ends(word, "ss"))
        return word;
    word.size -= (ends(word, "sses") && word.size > 4) || (ends(word, "ies") && word.size > 3) ? 2 : 1;
    return word;
}

/* Gives a word that lost "ed" or "ing" the ending it has elsewhere. */
static Word
mend(Word word)
{
    char last = word.at[word.size - 1];
    Sounds of = sounds(word.at, word.size);
    if (word.size > 2 && (ends(word, "at") || ends(word, "bl") || ends(word, "iz")))
        word.at[word.size++] = 'e';
    else if (word.size > 1 && word.at[word.size - 2] == last && !strchr("aeioulsz", last))
        word.size--;
    else if (of.measure == 1 && ends_short(word, of))
        word.at[word.size++] = 'e';
    return word;
}

static Word
step_1b(Word word)
{
    if (ends(word, "eed") && word.size > 3) {
        word.size -= sounds(word.at, word.size - 3).measure > 0;
        return word;
    }
    int cut = ends(word, "ed") && word.size > 2 ? 2 : ends(word, "ing") && word.size > 3 ? 3 : 0;
    if (!cut || !sounds(word.at, word.size - cut).vowels)
        return word;
    word.size -= cut;
    return mend(word);
}

static Word
step_5a(Word word)
{
    if (!ends(word, "e"))
        return word;
    Word start = {word.at, word.size - 1};
    Sounds of = sounds(start.at, start.size);
    return of.measure > 1 || (of.measure == 1 && !ends_short(start, of)) ? start : word;
}

/* Stems the bytes in place, of which there are 3 to 64; how many are left. A word never grows. */
int
porter(char *at, int size)
{
    Word word = {at, size};
    if (!memchr("cdegilmnrstuy", at[size - 1], 13))
        return size; /* no step looks at it */
    word = step_1b(step_1a(word));
    if (ends(word, "y") && sounds(word.at, word.size - 1).vowels)
        word.at[word.size - 1] = 'i';
    word = apply(STEP_2, word, 0);
    word = apply(STEP_3, word, 0);
    word = apply(STEP_4, word, 1);
    word = step_5a(word);
    if (ends(word, "ll") && sounds(word.at, word.size - 1).measure > 1)
        word.size--;
    return word.size;
}

/* Texts to numbers of words: what `words` in text.py does for ASCII, and a vocabulary that grows. */
#include "vocabulary.h"
#include <stdlib.h>
#include <string.h>

#define GAP (-1)
#define STEP 8 /* letters that are looked at together */

#define LOW_FIRST (*(const unsigned char *)&(const uint16_t){1})

typedef struct {
    int32_t *at;
    size_t used, room;
} Stream;

/* What becomes of each byte: 0 separates words. Beyond ASCII all are letters: such texts come
 * folded. */
static unsigned char folded[256];

void
choose_letters(void)
{
    for (int i = 0; i < 256; i++) {
        int digit = i >= '0' && i <= '9', small = i >= 'a' && i <= 'z', large = i >= 'A' && i <= 'Z';
        folded[i] = (unsigned char)(large ? i + 32 : digit || small || i >= 128 ? i : 0);
    }
}

static void
forget(PyObject *capsule)
{
    Vocabulary *all = PyCapsule_GetPointer(capsule, NAME);
    if (all) {
        free(all->letters);
        free(all->words);
        free(all->slots);
        free(all);
    }
}

/* vocabulary(seed) → a capsule without words. */
PyObject *
vocabulary(PyObject *Py_UNUSED(module), PyObject *args)
{
    unsigned long long seed;
    if (!PyArg_ParseTuple(args, "K", &seed))
        return NULL;
    Vocabulary *all = calloc(1, sizeof *all);
    if (!all)
        return PyErr_NoMemory();
    all->seed = seed;
    all->mask = 1023;
    all->slots = calloc(all->mask + 1, sizeof *all->slots);
    PyObject *capsule = all->slots ? PyCapsule_New(all, NAME, forget) : PyErr_NoMemory();
    if (!capsule) {
        free(all->slots);
        free(all);
    }
    return capsule;
}

/* Makes room for more; 0 if there is none. */
static int
grown(void **at, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room)
        return 1;
    size_t more = 2 * wanted + 64;
    if (more < wanted || more > (size_t)PY_SSIZE_T_MAX / size)
        return 0;
    void *larger = realloc(*at, more * size);
    if (!larger)
        return 0;
    *at = larger;
    *room = more;
    return 1;
}

static int
spread(Vocabulary *all)
{
    size_t mask = 2 * all->mask + 1;
    int32_t *slots = calloc(mask + 1, sizeof *slots);
    if (!slots)
        return 0;
    for (int32_t number = 0; number < all->count; number++) {
        size_t slot = (size_t)all->words[number].hash & mask;
        while (slots[slot])
            slot = (slot + 1) & mask;
        slots[slot] = number + 1;
    }
    free(all->slots);
    all->slots = slots;
    all->mask = mask;
    return 1;
}

/* The number of a word whose folded letters stand at the end of `letters`, not counted as used;
 * -1 if memory is short. */
static int32_t
number_of(Vocabulary *all, size_t size, uint64_t hash)
{
    const char *word = all->letters + all->used;
    hash ^= hash >> 32;
    size_t slot = (size_t)hash & all->mask;
    for (; all->slots[slot]; slot = (slot + 1) & all->mask) {
        const Word *other = all->words + all->slots[slot] - 1;
        if (other->hash == hash && other->size == size &&
            !memcmp(all->letters + other->start, word, size))
            return all->slots[slot] - 1;
    }
    size_t known = (size_t)all->known;
    if (all->count == INT32_MAX / 4 ||
        !grown((void **)&all->words, &known, (size_t)all->count + 1, sizeof(Word)))
        return -1;
    all->known = (int32_t)known;
    all->words[all->count] = (Word){hash, all->used, size};
    all->used += size;
    all->slots[slot] = ++all->count;
    if (2 * (size_t)all->count > all->mask && !spread(all))
        return -1;
    return all->count - 1;
}

/* Reads up to seven letters beyond the word. */
static uint64_t
hash_of(const char *word, size_t size, uint64_t hash)
{
    for (size_t i = 0; i < size; i += STEP) {
        uint64_t letters;
        memcpy(&letters, word + i, STEP);
        if (size - i < STEP) /* what lies beyond does not count */
            letters &= LOW_FIRST ? ((uint64_t)1 << 8 * (size - i)) - 1
                                 : ~(uint64_t)0 << 8 * (STEP - (size - i));
        hash = (hash ^ letters) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Appends the numbers of a text's words; 0 if memory is short. */
static int
tokenise(Vocabulary *all, const unsigned char *text, size_t length, Stream *stream)
{
    /* the letters of the text's words, each written where a new word would stand */
    if (!grown((void **)&all->letters, &all->room, all->used + length + STEP, 1) ||
        !grown((void **)&stream->at, &stream->room, stream->used + length / 2 + 2, sizeof(int32_t)))
        return 0;
    for (size_t i = 0; i < length;) {
        if (!folded[text[i]]) {
            i++;
            continue;
        }
        char *word = all->letters + all->used;
        size_t size = 0;
        for (unsigned char letter; i < length && (letter = folded[text[i]]); i++)
            word[size++] = (char)letter;
        int32_t number = number_of(all, size, hash_of(word, size, all->seed));
        if (number < 0)
            return 0;
        stream->at[stream->used++] = number;
    }
    stream->at[stream->used++] = GAP;
    return 1;
}

/* numbered(vocabulary, tuple of str) → (stream int32, widths int64): the numbers of the words of
 * each text, then a gap; and how many places that takes. A text beyond ASCII comes as its folded
 * words with blanks between. */
PyObject *
numbered(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *capsule, *texts;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &texts))
        return NULL;
    Vocabulary *all = PyCapsule_GetPointer(capsule, NAME);
    Py_ssize_t count = all ? PyTuple_Size(texts) : -1;
    if (count < 0)
        return NULL;
    if (all->busy) {
        PyErr_SetString(PyExc_ValueError, "numbered: the vocabulary is in use");
        return NULL;
    }
    PyObject *found = NULL, *widths = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)8);
    const char **given = malloc(((size_t)count + 1) * sizeof *given);
    Py_ssize_t *lengths = malloc(((size_t)count + 1) * sizeof *lengths);
    Stream stream = {NULL, 0, 0};
    int well = widths && given && lengths;
    for (Py_ssize_t i = 0; well && i < count; i++)
        well = (given[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(texts, i), lengths + i)) != NULL;
    if (well) {
        char *width = PyBytes_AsString(widths);
        all->busy = 1;
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t i = 0; well && i < count; i++) {
            size_t before = stream.used;
            well = tokenise(all, (const unsigned char *)given[i], (size_t)lengths[i], &stream);
            int64_t places = (int64_t)(stream.used - before);
            memcpy(width + 8 * i, &places, 8);
        }
        Py_END_ALLOW_THREADS
        all->busy = 0;
    }
    if (well)
        found = PyBytes_FromStringAndSize((const char *)stream.at,
                                          (Py_ssize_t)(stream.used * sizeof(int32_t)));
    else if (!PyErr_Occurred())
        PyErr_NoMemory();
    free(stream.at);
    free(lengths);
    free(given);
    PyObject *both = found ? PyTuple_Pack(2, found, widths) : NULL;
    Py_XDECREF(found);
    Py_XDECREF(widths);
    return both;
}

/* Terms that are looked for in a text: what they are, and which letters they begin with. */
typedef struct {
    const char **terms;
    Py_ssize_t *sizes, count;
    char begins[256];
} Wanted;

/* Which of the terms the word stands for; -1 if none. A stem begins as its word does. */
static Py_ssize_t
stands_for(const Wanted *wanted, const char *word, Py_ssize_t size, char *stem)
{
    if (size >= SHORTEST_STEMMED && size <= LONGEST_STEMMED) {
        memcpy(stem, word, (size_t)size);
        size = porter(stem, (int)size);
        word = stem;
    } else if (size > LONGEST_INDEXED) {
        size = LONGEST_INDEXED;
    }
    for (Py_ssize_t i = 0; i < wanted->count; i++)
        if (wanted->sizes[i] == size && !memcmp(wanted->terms[i], word, (size_t)size))
            return i;
    return -1;
}

/* spans(text, terms) → a list of (which term, where it starts, where it ends) in an ASCII text. */
PyObject *
spans(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given, *terms, *found = NULL;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(args, "UO!", &given, &PyTuple_Type, &terms))
        return NULL;
    const char *text = PyUnicode_AsUTF8AndSize(given, &length);
    if (!text)
        return NULL;
    Wanted wanted = {NULL, NULL, PyTuple_Size(terms), {0}};
    char stem[LONGEST_STEMMED + 1], *letters = malloc((size_t)length + 1);
    wanted.terms = malloc(((size_t)wanted.count + 1) * sizeof *wanted.terms);
    wanted.sizes = malloc(((size_t)wanted.count + 1) * sizeof *wanted.sizes);
    if (letters && wanted.terms && wanted.sizes)
        found = PyList_New(0);
    else
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; found && i < wanted.count; i++) {
        wanted.terms[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(terms, i), &wanted.sizes[i]);
        if (!wanted.terms[i])
            Py_CLEAR(found);
        else
            wanted.begins[(unsigned char)wanted.terms[i][0]] = 1;
    }
    for (Py_ssize_t i = 0; found && i < length; i++)
        letters[i] = (char)folded[(unsigned char)text[i]];
    for (Py_ssize_t at = 0; found && at < length; at++) {
        if (!letters[at])
            continue;
        Py_ssize_t start = at;
        while (at < length && letters[at])
            at++;
        if (!wanted.begins[(unsigned char)letters[start]])
            continue;
        Py_ssize_t term = stands_for(&wanted, letters + start, at - start, stem);
        PyObject *span = term < 0 ? NULL : Py_BuildValue("nnn", term, start, at);
        if (term >= 0 && (!span || PyList_Append(found, span) < 0))
            Py_CLEAR(found);
        Py_XDECREF(span);
    }
    free(letters);
    free(wanted.terms);
    free(wanted.sizes);
    return found;
}

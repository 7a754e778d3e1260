/* The words of a vocabulary by their stems: what an index keeps of them. */
#include "vocabulary.h"
#include <stdlib.h>
#include <string.h>

/* A word beside its stem, to be sorted by both. */
typedef struct {
    uint64_t head; /* the first bytes of the stem as a number: it mostly decides */
    const char *stem, *word;
    size_t stem_size, size;
    int32_t number;
} Form;

static int
compared(const char *one, size_t size, const char *other, size_t other_size)
{
    int order = memcmp(one, other, size < other_size ? size : other_size);
    return order ? order : (size > other_size) - (size < other_size);
}

static int
in_order(const void *first, const void *second)
{
    const Form *one = first, *other = second;
    if (one->head != other->head)
        return one->head < other->head ? -1 : 1;
    int order = compared(one->stem, one->stem_size, other->stem, other->stem_size);
    return order ? order : compared(one->word, one->size, other->word, other->size);
}

static uint64_t
head_of(const char *stem, size_t size)
{
    uint64_t head = 0;
    for (size_t i = 0; i < 8; i++)
        head = (head << 8) | (i < size ? (unsigned char)stem[i] : 0);
    return head;
}

static int
is_ascii(const char *word, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)word[i] >= 128)
            return 0;
    return 1;
}

/* Writes the stem of a word, and gives its size; -1 where it is beyond what is done here. */
static Py_ssize_t
stem_of(const char *word, size_t size, char *stem)
{
    int ascii = is_ascii(word, size);
    if (size > LONGEST_STEMMED) {
        if (size > LONGEST_INDEXED && !ascii)
            return -1;
        size_t kept = size > LONGEST_INDEXED ? LONGEST_INDEXED : size;
        memcpy(stem, word, kept);
        return (Py_ssize_t)kept;
    }
    memcpy(stem, word, size);
    if (size < SHORTEST_STEMMED)
        return (Py_ssize_t)size;
    int left = porter(stem, (int)size);
    if (!ascii && ((size_t)left != size || memcmp(stem, word, size)))
        return -1; /* it may have lost a part of a character */
    return left;
}

/* The forms in any order, with stems in `stems`; those left to Python go into the list `odd`. */
static void
find_stems(const Vocabulary *all, Form *forms, char *stems, int32_t *odd, Py_ssize_t *odd_count)
{
    char *next = stems;
    for (int32_t i = 0; i < all->count; i++) {
        const Word *word = all->words + i;
        const char *letters = all->letters + word->start;
        Py_ssize_t size = stem_of(letters, word->size, next);
        forms[i] = (Form){0, next, letters, size < 0 ? 0 : (size_t)size, word->size, i};
        if (size < 0)
            odd[(*odd_count)++] = i;
        else
            forms[i].head = head_of(next, (size_t)size);
        next += size < 0 ? 0 : size;
    }
}

/* Asks Python for the stems of the odd ones; they live as long as the list that is given back. */
static PyObject *
ask_stems(Form *forms, const int32_t *odd, Py_ssize_t count, PyObject *stem)
{
    PyObject *kept = PyList_New(count);
    for (Py_ssize_t i = 0; kept && i < count; i++) {
        Form *form = forms + odd[i];
        PyObject *word = PyUnicode_DecodeUTF8(form->word, (Py_ssize_t)form->size, NULL);
        PyObject *found = word ? PyObject_CallFunctionObjArgs(stem, word, NULL) : NULL;
        Py_XDECREF(word);
        Py_ssize_t size;
        const char *text = found ? PyUnicode_AsUTF8AndSize(found, &size) : NULL;
        if (!text) {
            Py_XDECREF(found);
            Py_CLEAR(kept);
            break;
        }
        form->stem = text;
        form->stem_size = (size_t)size;
        form->head = head_of(text, (size_t)size);
        PyList_SetItem(kept, i, found);
    }
    return kept;
}

/* Whether a form has another stem than the one before it, or, if asked for words, is another one. */
static int
is_new(const Form *forms, int32_t i, int stems)
{
    const Form *one = forms + i, *before = one - 1;
    if (!i || one->head != before->head ||
        compared(one->stem, one->stem_size, before->stem, before->stem_size))
        return 1;
    return !stems && compared(one->word, one->size, before->word, before->size);
}

/* Makes a bytes object of the sorted words, or of their stems, each told once. */
static PyObject *
packed(const Form *forms, int32_t count, int stems, PyObject **offsets)
{
    int64_t total = 0;
    int32_t lists = 0;
    for (int32_t i = 0; i < count; i++)
        if (is_new(forms, i, stems)) {
            total += (int64_t)(stems ? forms[i].stem_size : forms[i].size);
            lists++;
        }
    PyObject *blob = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)total);
    *offsets = PyBytes_FromStringAndSize(NULL, ((Py_ssize_t)lists + 1) * 8);
    if (!blob || !*offsets) {
        Py_XDECREF(blob);
        Py_CLEAR(*offsets);
        return NULL;
    }
    char *at = PyBytes_AsString(blob), *ends = PyBytes_AsString(*offsets);
    int64_t end = 0;
    memcpy(ends, &end, 8);
    for (int32_t i = 0; i < count; i++) {
        if (!is_new(forms, i, stems))
            continue;
        size_t size = stems ? forms[i].stem_size : forms[i].size;
        memcpy(at + end, stems ? forms[i].stem : forms[i].word, size);
        end += (int64_t)size;
        memcpy(ends += 8, &end, 8);
    }
    return blob;
}

/* All that is told of sorted forms, whose numbers are less than `numbers`; one that has no form has
 * the rank -1. */
static PyObject *
sorted_arrays(const Form *forms, int32_t count, int32_t numbers)
{
    PyObject *surface_ends = NULL, *term_ends = NULL, *found = NULL, *owner = NULL;
    PyObject *surfaces = packed(forms, count, 0, &surface_ends);
    PyObject *terms = packed(forms, count, 1, &term_ends);
    PyObject *rank = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)numbers * 4);
    if (surface_ends)
        owner = PyBytes_FromStringAndSize(NULL, (PyBytes_Size(surface_ends) / 8 - 1) * 4);
    if (surfaces && terms && rank && owner) {
        char *ranks = PyBytes_AsString(rank), *owners = PyBytes_AsString(owner);
        int32_t term = -1, form = -1;
        memset(ranks, 255, (size_t)numbers * 4);
        for (int32_t i = 0; i < count; i++) {
            term += is_new(forms, i, 1);
            form += is_new(forms, i, 0);
            memcpy(ranks + 4 * (size_t)forms[i].number, &form, 4);
            memcpy(owners + 4 * (size_t)form, &term, 4);
        }
        found = PyTuple_Pack(6, rank, surfaces, surface_ends, terms, term_ends, owner);
    }
    Py_XDECREF(rank);
    Py_XDECREF(owner);
    Py_XDECREF(surfaces);
    Py_XDECREF(surface_ends);
    Py_XDECREF(terms);
    Py_XDECREF(term_ends);
    return found;
}

/* sorted_words(vocabulary, stem) → (rank int32, words, their offsets int64, terms, their offsets
 * int64, the term of each word int32): words by their stem, then by themselves; `rank` is the place
 * of each number. `stem` is asked for those beyond ASCII that it changes. */
PyObject *
sorted_words(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *capsule, *stem, *kept = NULL, *found = NULL;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &stem))
        return NULL;
    Vocabulary *all = PyCapsule_GetPointer(capsule, NAME);
    if (!all || all->busy) {
        if (all)
            PyErr_SetString(PyExc_ValueError, "sorted_words: the vocabulary is in use");
        return NULL;
    }
    size_t count = (size_t)all->count;
    Form *forms = malloc((count + 1) * sizeof *forms);
    int32_t *odd = malloc((count + 1) * sizeof *odd);
    char *stems = malloc(all->used + LONGEST_STEMMED + 1);
    Py_ssize_t odd_count = 0;
    all->busy = 1;
    if (forms && odd && stems) {
        Py_BEGIN_ALLOW_THREADS
        find_stems(all, forms, stems, odd, &odd_count);
        Py_END_ALLOW_THREADS
        kept = ask_stems(forms, odd, odd_count, stem);
    } else {
        PyErr_NoMemory();
    }
    if (kept) {
        Py_BEGIN_ALLOW_THREADS
        qsort(forms, count, sizeof *forms, in_order);
        Py_END_ALLOW_THREADS
        found = sorted_arrays(forms, all->count, all->count);
    }
    all->busy = 0;
    Py_XDECREF(kept);
    free(stems);
    free(odd);
    free(forms);
    return found;
}

/* What a segment knows of words: its stems, where their forms begin, the forms, how often each is used. */
typedef struct {
    Py_buffer all[6];
} Known;

/* Whether these offsets tell apart strings of a blob, or forms. */
static int
in_bounds(const Py_buffer *offsets, Py_ssize_t most)
{
    const int64_t *at = offsets->buf;
    Py_ssize_t count = ITEMS(*offsets, int64_t);
    if (count < 1 || at[0] != 0 || at[count - 1] > most)
        return 0;
    for (Py_ssize_t i = 1; i < count; i++)
        if (at[i - 1] > at[i])
            return 0;
    return 1;
}

static int
known_fits(const Known *one)
{
    Py_ssize_t terms = ITEMS(one->all[1], int64_t) - 1, forms = ITEMS(one->all[5], int64_t);
    return in_bounds(one->all + 1, one->all[0].len) && in_bounds(one->all + 2, forms) &&
           in_bounds(one->all + 4, one->all[3].len) && ITEMS(one->all[2], int64_t) == terms + 1 &&
           ITEMS(one->all[4], int64_t) == forms + 1 &&
           ((const int64_t *)one->all[2].buf)[terms] == forms;
}

/* Adds the forms that are used; `number` is that of the first. */
static Form *
forms_of(const Known *one, int32_t number, Form *to)
{
    const char *stems = one->all[0].buf, *words = one->all[3].buf;
    const int64_t *stem_at = one->all[1].buf, *forms = one->all[2].buf, *word_at = one->all[4].buf;
    const int64_t *uses = one->all[5].buf;
    Py_ssize_t terms = ITEMS(one->all[1], int64_t) - 1;
    for (Py_ssize_t term = 0; term < terms; term++) {
        const char *stem = stems + stem_at[term];
        size_t size = (size_t)(stem_at[term + 1] - stem_at[term]);
        uint64_t head = head_of(stem, size);
        for (int64_t form = forms[term]; form < forms[term + 1]; form++)
            if (uses[form])
                *to++ = (Form){head,
                               stem,
                               words + word_at[form],
                               size,
                               (size_t)(word_at[form + 1] - word_at[form]),
                               number + (int32_t)form};
    }
    return to;
}

/* forms_together(segments) → as `sorted_words`: the forms of all of them that are used, each once;
 * the numbers of a segment's forms follow those of the one before. A segment is (stems, their offsets
 * int64, where the forms of each begin int64, forms, their offsets int64, uses int64). */
PyObject *
forms_together(PyObject *Py_UNUSED(module), PyObject *given)
{
    Py_ssize_t count = PyTuple_Size(given), taken = 0;
    if (count < 0)
        return NULL;
    Known *all = calloc((size_t)count + 1, sizeof *all);
    PyObject *found = NULL;
    int64_t total = 0;
    int fits = 1;
    if (!all)
        return PyErr_NoMemory();
    for (; taken < count; taken++) {
        Py_buffer *one = all[taken].all;
        PyObject *tuple = PyTuple_GetItem(given, taken);
        if (!tuple || !PyTuple_Check(tuple) ||
            !PyArg_ParseTuple(tuple, "y*y*y*y*y*y*", one, one + 1, one + 2, one + 3, one + 4, one + 5))
            break;
        fits = fits && known_fits(all + taken);
        total += ITEMS(one[5], int64_t);
    }
    Form *forms = taken == count ? malloc(((size_t)total + 1) * sizeof *forms) : NULL;
    if (taken < count) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "forms_together: a segment is not a tuple");
    } else if (!forms) {
        PyErr_NoMemory();
    } else if (!fits || total > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "forms_together: the arrays do not fit each other");
    } else {
        Form *end = forms;
        int32_t number = 0;
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t i = 0; i < count; i++) {
            end = forms_of(all + i, number, end);
            number += (int32_t)ITEMS(all[i].all[5], int64_t);
        }
        qsort(forms, (size_t)(end - forms), sizeof *forms, in_order);
        Py_END_ALLOW_THREADS
        found = sorted_arrays(forms, (int32_t)(end - forms), number);
    }
    free(forms);
    for (Py_ssize_t i = 0; i < taken; i++)
        let_go(all[i].all, 6);
    free(all);
    return found;
}

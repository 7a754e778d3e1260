/* The ids of chunks, and which of them make the beginning of a ranking. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

#define NUMBERS 32 /* an @, a / and two numbers of at most eleven signs */

/* Writes a sign and a number; where it ends. */
static char *
write_number(char *text, char sign, int32_t number)
{
    char digits[NUMBERS];
    int count = 0;
    int64_t rest = number < 0 ? -(int64_t)number : number;
    do
        digits[count++] = (char)('0' + rest % 10);
    while (rest /= 10);
    *text++ = sign;
    if (number < 0)
        *text++ = '-';
    while (count)
        *text++ = digits[--count];
    return text;
}

/* Chunks by row, and the names of their documents. */
typedef struct {
    Py_buffer blob, offsets, documents, versions, ordinals;
} Named;

/* Asks for all that will be read: rows of candidates lie all over the memory, and to wait for each
 * would take longer than the rest. Says whether the rows and their documents exist. */
static int
fetch(const Named *all, const int64_t *rows, Py_ssize_t count)
{
    const int64_t *offsets = all->offsets.buf;
    const int32_t *documents = all->documents.buf;
    Py_ssize_t known = ITEMS(all->documents, int32_t), names = ITEMS(all->offsets, int64_t) - 1;
    if (all->versions.len != all->documents.len || all->ordinals.len != all->documents.len)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (rows[i] < 0 || rows[i] >= known)
            return 0;
        FETCH(documents + rows[i]);
        FETCH((const int32_t *)all->versions.buf + rows[i]);
        FETCH((const int32_t *)all->ordinals.buf + rows[i]);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (documents[rows[i]] < 0 || documents[rows[i]] >= names)
            return 0;
        FETCH(offsets + documents[rows[i]]);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t start = offsets[documents[rows[i]]], end = offsets[documents[rows[i]] + 1];
        if (start < 0 || start > end || end > all->blob.len)
            return 0;
        FETCH((const char *)all->blob.buf + start);
    }
    return 1;
}

/* The ids of these rows, as `chunk_id` in types/documents.py writes them; `fetch` allowed them. */
static PyObject *
ids_of(const Named *all, const int64_t *rows, Py_ssize_t count)
{
    const int64_t *offsets = all->offsets.buf;
    const int32_t *documents = all->documents.buf, *versions = all->versions.buf,
                  *ordinals = all->ordinals.buf;
    Py_ssize_t room = 0;
    char *text = NULL;
    PyObject *found = PyTuple_New(count);
    for (Py_ssize_t i = 0; found && i < count; i++) {
        int32_t owner = documents[rows[i]];
        Py_ssize_t size = (Py_ssize_t)(offsets[owner + 1] - offsets[owner]);
        if (size + NUMBERS > room) {
            room = 2 * (size + NUMBERS);
            char *larger = realloc(text, (size_t)room);
            if (!larger) {
                Py_CLEAR(found);
                PyErr_NoMemory();
                break;
            }
            text = larger;
        }
        memcpy(text, (const char *)all->blob.buf + offsets[owner], (size_t)size);
        char *end = write_number(text + size, '@', versions[rows[i]]);
        end = write_number(end, '/', ordinals[rows[i]]);
        PyObject *id = PyUnicode_DecodeUTF8(text, end - text, "surrogatepass");
        if (!id || PyTuple_SetItem(found, i, id) < 0)
            Py_CLEAR(found);
    }
    free(text);
    return found;
}

/* chunk_ids(blob, offsets int64, documents int32, versions int32, ordinals int32, rows int64) → the
 * ids of these rows. */
PyObject *
chunk_ids(PyObject *Py_UNUSED(module), PyObject *args)
{
    Named all;
    Py_buffer rows;
    PyObject *found = NULL;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*", &all.blob, &all.offsets, &all.documents,
                          &all.versions, &all.ordinals, &rows))
        return NULL;
    if (fetch(&all, rows.buf, ITEMS(rows, int64_t)))
        found = ids_of(&all, rows.buf, ITEMS(rows, int64_t));
    else
        PyErr_SetString(PyExc_ValueError, "chunk_ids: the arrays do not fit each other");
    let_go(&all.blob, 5);
    let_go(&rows, 1);
    return found;
}

/* A candidate: its row and score. */
typedef struct {
    int64_t row;
    double score;
} Scored;

static int
best_first(const void *one, const void *other)
{
    const Scored *first = one, *second = other;
    if (first->score != second->score)
        return first->score > second->score ? -1 : 1;
    return (first->row > second->row) - (first->row < second->row);
}

/* How many of the candidates are the shortest beginning that holds so many documents; 0 if all of
 * them do not. `seen` has room for a power of two of places, half of which stay empty. */
static Py_ssize_t
beginning(const Scored *candidates, Py_ssize_t count, const int32_t *documents, Py_ssize_t wanted,
          int32_t *seen, size_t places)
{
    memset(seen, 255, places * sizeof *seen); /* -1 */
    for (Py_ssize_t i = 0, held = 0; i < count; i++) {
        int32_t document = documents[candidates[i].row];
        size_t at = (uint32_t)document * 2654435769u & (places - 1);
        while (seen[at] >= 0 && seen[at] != document)
            at = (at + 1) & (places - 1);
        held += seen[at] < 0;
        seen[at] = document;
        if (held == wanted)
            return i + 1;
    }
    return 0;
}

/* first_units(blob, offsets, documents, versions, ordinals as for chunk_ids, rows int64, scores
 * float64, among, wanted, by document) → (ids, rows int64 as bytes, scores) of the shortest beginning
 * of the ranking that holds so many documents, or chunks; None if the first so many `among` them do
 * not. */
PyObject *
first_units(PyObject *Py_UNUSED(module), PyObject *args)
{
    Named all;
    Py_buffer given[2]; /* rows, scores */
    Py_ssize_t among, wanted;
    int by_document;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*nnp", &all.blob, &all.offsets, &all.documents,
                          &all.versions, &all.ordinals, &given[0], &given[1], &among, &wanted,
                          &by_document))
        return NULL;
    int64_t *rows = NULL;
    const double *scores = given[1].buf;
    Py_ssize_t count = ITEMS(given[0], int64_t), held = 0;
    size_t places = 2;
    while (places < 2 * (size_t)count)
        places *= 2;
    Scored *candidates = malloc((size_t)(count + 1) * sizeof *candidates);
    int32_t *seen = malloc(places * sizeof *seen);
    rows = malloc((size_t)(count + 1) * sizeof *rows);
    PyObject *found = NULL, *ids = NULL, *worth = NULL;
    if (!candidates || !seen || !rows) {
        PyErr_NoMemory();
    } else if (ITEMS(given[1], double) != count || wanted < 1 || !fetch(&all, given[0].buf, count)) {
        PyErr_SetString(PyExc_ValueError, "first_units: the arrays do not fit each other");
    } else {
        for (Py_ssize_t i = 0; i < count; i++)
            candidates[i] = (Scored){((const int64_t *)given[0].buf)[i], scores[i]};
        qsort(candidates, (size_t)count, sizeof *candidates, best_first);
        count = count < among ? count : among;
        held = by_document ? beginning(candidates, count, all.documents.buf, wanted, seen, places)
                           : (count >= wanted ? wanted : 0);
        for (Py_ssize_t i = 0; i < held; i++)
            rows[i] = candidates[i].row;
        ids = held ? ids_of(&all, rows, held) : NULL;
        worth = ids ? PyTuple_New(held) : NULL;
        for (Py_ssize_t i = 0; worth && i < held; i++) {
            PyObject *score = PyFloat_FromDouble(candidates[i].score);
            if (!score || PyTuple_SetItem(worth, i, score) < 0)
                Py_CLEAR(worth);
        }
        if (worth)
            found = Py_BuildValue("Oy#O", ids, (char *)rows, held * (Py_ssize_t)sizeof *rows, worth);
        else if (!PyErr_Occurred())
            found = Py_NewRef(Py_None);
    }
    Py_XDECREF(ids);
    Py_XDECREF(worth);
    free(candidates);
    free(seen);
    free(rows);
    let_go(&all.blob, 5);
    let_go(given, 2);
    return found;
}

/* The ids of chunks, and which of them make the beginning of a ranking. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

#define SHORT 200  /* bytes of a document's name, as they nearly always are */
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

/* How many bytes the id of a row has at most; `fetch` allowed the row. */
static size_t
most_of(const Named *all, int64_t row)
{
    const int64_t *offset = (const int64_t *)all->offsets.buf + ((const int32_t *)all->documents.buf)[row];
    return (size_t)(offset[1] - offset[0]) + NUMBERS;
}

/* Writes the id of a row, as `chunk_id` in types/documents.py has it; how many bytes there were. */
static size_t
write_id(const Named *all, int64_t row, char *text)
{
    int64_t start = ((const int64_t *)all->offsets.buf)[((const int32_t *)all->documents.buf)[row]];
    size_t size = most_of(all, row) - NUMBERS;
    memcpy(text, (const char *)all->blob.buf + start, size);
    char *end = write_number(text + size, '@', ((const int32_t *)all->versions.buf)[row]);
    return (size_t)(write_number(end, '/', ((const int32_t *)all->ordinals.buf)[row]) - text);
}

static PyObject *
id_of(const Named *all, int64_t row)
{
    char few[SHORT + NUMBERS], *text = few;
    size_t most = most_of(all, row);
    if (most > sizeof few && !(text = malloc(most)))
        return PyErr_NoMemory();
    PyObject *id = PyUnicode_DecodeUTF8(text, (Py_ssize_t)write_id(all, row, text), "surrogatepass");
    if (text != few)
        free(text);
    return id;
}

static PyObject *
ids_of(const Named *all, const int64_t *rows, Py_ssize_t count)
{
    PyObject *found = PyTuple_New(count);
    for (Py_ssize_t i = 0; found && i < count; i++) {
        PyObject *id = id_of(all, rows[i]);
        if (!id || PyTuple_SetItem(found, i, id) < 0)
            Py_CLEAR(found);
    }
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

#define ROW_BITS 40 /* of a place: above them is the segment */
#define ROW_OF(place) ((place) & (((int64_t)1 << ROW_BITS) - 1))

/* A candidate: where it stands, and its score. */
typedef struct {
    int64_t place;
    double score;
} Scored;

static int
best_first(const void *one, const void *other)
{
    const Scored *first = one, *second = other;
    if (first->score != second->score)
        return first->score > second->score ? -1 : 1;
    return (first->place > second->place) - (first->place < second->place);
}

/* Segments, and candidates that stand in them. */
typedef struct {
    Named *segments;
    Py_ssize_t segment_count, count;
    Scored *candidates;
    int64_t *rows, *seen; /* rows of one segment; documents, in twice as many places */
    size_t places;
} Field;

/* Gives the buffers back, and what was allocated. */
static void
leave(Field *all)
{
    for (Py_ssize_t i = 0; all->segments && i < all->segment_count; i++)
        let_go(&all->segments[i].blob, 5);
    free(all->segments);
    free(all->candidates);
    free(all->rows);
    free(all->seen);
}

static int sort_level(const Field *all);

/* Takes the segments and the candidates, and puts these in order; 0 with an error if that cannot be. */
static int
enter(Field *all, PyObject *segments, const Py_buffer *places, const Py_buffer *scores)
{
    Py_ssize_t count = ITEMS(*places, int64_t), known = PyTuple_Size(segments);
    all->segments = calloc((size_t)known + 1, sizeof *all->segments);
    all->candidates = malloc((size_t)(count + 1) * sizeof *all->candidates);
    all->rows = malloc((size_t)(count + 1) * sizeof *all->rows);
    for (all->places = 2; all->places < 2 * (size_t)count;)
        all->places *= 2;
    all->seen = malloc(all->places * sizeof *all->seen);
    if (!all->segments || !all->candidates || !all->rows || !all->seen) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < known; i++) {
        Named *one = all->segments + i;
        if (!PyArg_ParseTuple(PyTuple_GetItem(segments, i), "y*y*y*y*y*", &one->blob, &one->offsets,
                              &one->documents, &one->versions, &one->ordinals))
            return 0;
        all->segment_count++;
    }
    if (scores->len != places->len)
        all->count = -1;
    for (Py_ssize_t i = 0; i < count && all->count == 0; i++) {
        int64_t place = ((const int64_t *)places->buf)[i];
        all->candidates[i] = (Scored){place, ((const double *)scores->buf)[i]};
        if (place < 0 || place >> ROW_BITS >= known)
            all->count = -1;
    }
    for (Py_ssize_t segment = 0; segment < known && all->count == 0; segment++) {
        Py_ssize_t here = 0;
        for (Py_ssize_t i = 0; i < count; i++)
            if (all->candidates[i].place >> ROW_BITS == segment)
                all->rows[here++] = ROW_OF(all->candidates[i].place);
        if (!fetch(all->segments + segment, all->rows, here))
            all->count = -1;
    }
    if (all->count < 0) {
        PyErr_SetString(PyExc_ValueError, "first_units: the arrays do not fit each other");
        return 0;
    }
    all->count = count;
    qsort(all->candidates, (size_t)count, sizeof *all->candidates, best_first);
    if (!sort_level(all)) {
        PyErr_NoMemory();
        return 0;
    }
    return 1;
}

/* A candidate beside its id. */
typedef struct {
    Scored candidate;
    const char *id;
    size_t size;
} Spelled;

static int
by_id(const void *one, const void *other)
{
    const Spelled *first = one, *second = other;
    size_t size = first->size < second->size ? first->size : second->size;
    int order = memcmp(first->id, second->id, size);
    return order ? order : (first->size > second->size) - (first->size < second->size);
}

/* Puts candidates of the same score into the order of their ids; 0 if there is no memory for it. */
static int
sort_by_id(const Field *all, Scored *candidates, Py_ssize_t count)
{
    size_t room = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        room += most_of(all->segments + (candidates[i].place >> ROW_BITS), ROW_OF(candidates[i].place));
    Spelled *spelled = malloc((size_t)count * sizeof *spelled);
    char *text = malloc(room), *next = text;
    int well = spelled && text;
    for (Py_ssize_t i = 0; well && i < count; i++) {
        int64_t place = candidates[i].place;
        spelled[i] = (Spelled){candidates[i], next, 0};
        spelled[i].size = write_id(all->segments + (place >> ROW_BITS), ROW_OF(place), next);
        next += spelled[i].size;
    }
    if (well)
        qsort(spelled, (size_t)count, sizeof *spelled, by_id);
    for (Py_ssize_t i = 0; well && i < count; i++)
        candidates[i] = spelled[i].candidate;
    free(spelled);
    free(text);
    return well;
}

/* Of candidates of the same score in several segments the ids decide; in one its rows are in order. */
static int
sort_level(const Field *all)
{
    for (Py_ssize_t start = 0, end; start < all->count; start = end) {
        const Scored *first = all->candidates + start;
        int across = 0;
        for (end = start + 1; end < all->count && all->candidates[end].score == first->score; end++)
            across |= all->candidates[end].place >> ROW_BITS != first->place >> ROW_BITS;
        if (across && !sort_by_id(all, all->candidates + start, end - start))
            return 0;
    }
    return 1;
}

/* How many of the first are the shortest beginning that holds so many documents; 0 if all of them do
 * not. */
static Py_ssize_t
beginning(Field *all, Py_ssize_t count, Py_ssize_t wanted)
{
    memset(all->seen, 255, all->places * sizeof *all->seen); /* -1 */
    for (Py_ssize_t i = 0, held = 0; i < count; i++) {
        int64_t place = all->candidates[i].place, segment = place >> ROW_BITS;
        const int32_t *documents = all->segments[segment].documents.buf;
        int64_t document = segment << ROW_BITS | documents[ROW_OF(place)];
        size_t at = ((uint64_t)document * 0x9E3779B97F4A7C15u >> 32) & (all->places - 1);
        while (all->seen[at] >= 0 && all->seen[at] != document)
            at = (at + 1) & (all->places - 1);
        held += all->seen[at] < 0;
        all->seen[at] = document;
        if (held == wanted)
            return i + 1;
    }
    return 0;
}

/* The ids of the first so many, and in `rows` their places. */
static PyObject *
ids_of_first(Field *all, Py_ssize_t count)
{
    PyObject *ids = PyTuple_New(count);
    for (Py_ssize_t i = 0; ids && i < count; i++) {
        int64_t place = all->rows[i] = all->candidates[i].place, row = ROW_OF(place);
        PyObject *one = id_of(all->segments + (place >> ROW_BITS), row);
        if (!one || PyTuple_SetItem(ids, i, one) < 0)
            Py_CLEAR(ids);
    }
    return ids;
}

/* first_units(segments, places int64, scores float64, among, wanted, by document) → (ids, places int64 as
 * bytes, scores) of the shortest beginning of the ranking that holds so many documents, or chunks; None
 * if the first so many `among` them do not. Segments are tuples of the arrays that chunk_ids takes. */
PyObject *
first_units(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer given[2]; /* places, scores */
    PyObject *segments, *found = NULL;
    Py_ssize_t among, wanted;
    int by_document;
    if (!PyArg_ParseTuple(args, "O!y*y*nnp", &PyTuple_Type, &segments, &given[0], &given[1], &among,
                          &wanted, &by_document))
        return NULL;
    Field all = {0};
    if (enter(&all, segments, &given[0], &given[1])) {
        Py_ssize_t count = all.count < among ? all.count : among, held = 0;
        if (wanted > 0)
            held = by_document ? beginning(&all, count, wanted) : count >= wanted ? wanted : 0;
        if (!held) {
            found = Py_NewRef(Py_None);
        } else {
            PyObject *ids = ids_of_first(&all, held), *scores = ids ? PyTuple_New(held) : NULL;
            for (Py_ssize_t i = 0; scores && i < held; i++) {
                PyObject *score = PyFloat_FromDouble(all.candidates[i].score);
                if (!score || PyTuple_SetItem(scores, i, score) < 0)
                    Py_CLEAR(scores);
            }
            if (scores)
                found = Py_BuildValue("Oy#O", ids, (char *)all.rows,
                                      held * (Py_ssize_t)sizeof *all.rows, scores);
            Py_XDECREF(ids);
            Py_XDECREF(scores);
        }
    }
    leave(&all);
    let_go(given, 2);
    return found;
}

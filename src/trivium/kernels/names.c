/* The ids of chunks. */
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

/* Asks for all that will be read: rows of candidates lie all over the memory, and to wait for each
 * would take longer than the rest. Says whether the rows and their documents exist. */
static int
fetch(const int64_t *rows, Py_ssize_t count, Py_ssize_t known, const int32_t *documents,
      const int32_t *versions, const int32_t *ordinals, Py_ssize_t names, const int64_t *offsets,
      const Py_buffer *blob)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (rows[i] < 0 || rows[i] >= known)
            return 0;
        FETCH(documents + rows[i]);
        FETCH(versions + rows[i]);
        FETCH(ordinals + rows[i]);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (documents[rows[i]] < 0 || documents[rows[i]] >= names)
            return 0;
        FETCH(offsets + documents[rows[i]]);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t start = offsets[documents[rows[i]]], end = offsets[documents[rows[i]] + 1];
        if (start < 0 || start > end || end > blob->len)
            return 0;
        FETCH((const char *)blob->buf + start);
    }
    return 1;
}

/* chunk_ids(blob, offsets int64, documents int32, versions int32, ordinals int32, rows int64) → the
 * ids of these rows, as `chunk_id` in types/documents.py writes them. */
PyObject *
chunk_ids(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[6]; /* blob, offsets, documents, versions, ordinals, rows */
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*", &all[0], &all[1], &all[2], &all[3], &all[4],
                          &all[5]))
        return NULL;
    const int64_t *offsets = all[1].buf, *rows = all[5].buf;
    const int32_t *documents = all[2].buf, *versions = all[3].buf, *ordinals = all[4].buf;
    Py_ssize_t count = ITEMS(all[5], int64_t), known = ITEMS(all[2], int32_t);
    Py_ssize_t names = ITEMS(all[1], int64_t) - 1, room = 0;
    int fits = all[3].len == all[2].len && all[4].len == all[2].len;
    char *text = NULL;
    PyObject *found = PyList_New(count);
    fits = fits && fetch(rows, count, known, documents, versions, ordinals, names, offsets, &all[0]);
    for (Py_ssize_t i = 0; fits && found && i < count; i++) {
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
        memcpy(text, (const char *)all[0].buf + offsets[owner], (size_t)size);
        char *end = write_number(text + size, '@', versions[rows[i]]);
        end = write_number(end, '/', ordinals[rows[i]]);
        PyObject *id = PyUnicode_DecodeUTF8(text, end - text, "surrogatepass");
        if (!id || PyList_SetItem(found, i, id) < 0)
            Py_CLEAR(found);
    }
    free(text);
    let_go(all, 6);
    if (!fits) {
        Py_CLEAR(found);
        PyErr_SetString(PyExc_ValueError, "chunk_ids: the arrays do not fit each other");
    }
    return found;
}

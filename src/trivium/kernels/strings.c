/* Strings of a sorted list. */
#include "kernels.h"
#include <string.h>

#define HEAD 8 /* bytes of a string that fit a number */

typedef struct {
    const char *blob;
    const int64_t *offsets;
    const uint64_t *heads;
    Py_ssize_t count, size;
} Sorted;

/* How a string of the list compares to the wanted one; 2 if it is not where it should be. */
static int
compared(const Sorted *all, Py_ssize_t index, const char *wanted, Py_ssize_t length)
{
    int64_t start = all->offsets[index], end = all->offsets[index + 1];
    if (start < 0 || start > end || end > all->size)
        return 2;
    size_t shorter = (size_t)(end - start < length ? end - start : length);
    int order = memcmp(all->blob + start, wanted, shorter);
    return order ? (order > 0) - (order < 0) : (end - start > length) - (end - start < length);
}

/* The first place whose head is at least, or above, this one. */
static Py_ssize_t
place_of(const uint64_t *heads, Py_ssize_t count, uint64_t head, int above)
{
    Py_ssize_t low = 0;
    while (low < count) {
        Py_ssize_t middle = low + (count - low) / 2;
        if (heads[middle] < head || (above && heads[middle] == head))
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* lower_bound(blob, offsets int64, heads uint64 or None, wanted bytes) → (the index of the first string
 * of a sorted list that is not less than this one, whether it is this one). */
PyObject *
lower_bound(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[4]; /* blob, offsets, heads, wanted */
    if (!PyArg_ParseTuple(args, "y*y*z*y*", &all[0], &all[1], &all[2], &all[3]))
        return NULL;
    Sorted list = {all[0].buf, all[1].buf, all[2].buf, ITEMS(all[1], int64_t) - 1, all[0].len};
    const unsigned char *wanted = all[3].buf;
    Py_ssize_t length = all[3].len, low = 0, high = list.count;
    int order = 0;
    if (list.count < 0 || (list.heads && ITEMS(all[2], uint64_t) != list.count))
        return finished(all, 4, "lower_bound: the arrays do not fit each other");
    if (list.heads) {
        uint64_t head = 0;
        for (Py_ssize_t i = 0; i < HEAD; i++)
            head = head << 8 | (i < length ? wanted[i] : 0);
        low = place_of(list.heads, list.count, head, 0);
        high = place_of(list.heads + low, list.count - low, head, 1) + low;
    }
    while (low < high && order < 2) {
        Py_ssize_t middle = low + (high - low) / 2;
        order = compared(&list, middle, (const char *)wanted, length);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    int is_equal = 0;
    if (order < 2 && low < list.count) {
        order = compared(&list, low, (const char *)wanted, length);
        is_equal = order == 0;
    }
    if (order == 2)
        return finished(all, 4, "lower_bound: the arrays do not fit each other");
    let_go(all, 4);
    return Py_BuildValue("nO", low, is_equal ? Py_True : Py_False);
}

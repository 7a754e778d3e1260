/* Lists of several segments on their way to be one: what those of words and of their holders share. */
#ifndef TRIVIUM_TOGETHER_H
#define TRIVIUM_TOGETHER_H
#include "kernels.h"

#define FIELDS 9 /* at most, of a part */

/* A segment's lists; which of these there are depends on what is brought together. */
typedef struct {
    Py_buffer all[FIELDS];
    int fields;
    Py_ssize_t lists, at; /* how many, and the next one */
    const int64_t *offsets, *extra_offsets, *numbers;
    const int64_t *place, *shift, *ends, *stretches;
    Py_ssize_t rows, marks;
    int64_t size, extra_size;
} Part;

/* Ascending runs of numbers on their way to be one. */
typedef struct {
    uint64_t *values, *other; /* room for as many as there are at most */
    int64_t count;
    int64_t *begins; /* of each run, and where the last one ends */
    Py_ssize_t runs;
} Runs;

typedef struct {
    Part *parts;
    Py_ssize_t count;
} Parts;

/* What was added from here on is a run, unless it goes on where the last one ends: often all do. */
void end_run(Runs *all, int64_t begin);

/* All runs as one, neighbours first, then what became of them; and none. */
void as_one(Runs *all);
void empty_runs(Runs *all);

/* Room for so many numbers of so many parts; 0 if there is none. */
int room_for(Runs *all, int64_t most, Py_ssize_t parts);
void free_runs(Runs *all);

/* Takes so many buffers of each part; 0 with an exception set. */
int take_parts(PyObject *given, int fields, Parts *all);
void free_parts(Parts *all);

/* Whether offsets tell apart lists of so many values, which begin at the first offset. */
int offsets_fit(const int64_t *offsets, Py_ssize_t lists, int64_t values);

#endif

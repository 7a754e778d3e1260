/* A search for who is nearest, as `nearest` makes it at once and `begin_nearest` beside Python. */
#ifndef TRIVIUM_NEAREST_H
#define TRIVIUM_NEAREST_H

#include "vectors.h"

/* What is asked of a pass: who is among the nearest, of rows whose cosines lie within `spread` of
 * their `middle`. `rows` are those of the block, where not all were passed over. Without codes
 * `spread` is that of float32. */
typedef struct {
    const float *middle, *peaks;
    const int64_t *rows;
    Py_ssize_t count;
    float spread, fine_spread, room;
    Pass fine;
    const float *matrix;
    const double *query;
    Py_ssize_t wanted, width;
} Search;

/* Rows that are being looked at: their middles by the codes. */
typedef struct {
    int64_t *rows;
    float *middle;
    Py_ssize_t count, room;
} Looked;

/* Where a search works, and what it has found: `held` rows in `looked` with their `exact` cosines. */
typedef struct {
    Looked looked;
    double *heap, *exact;
    float *peaks;
    Py_ssize_t held;
} Room;

/* What is searched: a matrix with its query, and how it is looked at more closely, if by codes. */
typedef struct {
    Py_buffer middle, rows, codes, steps, coded, matrix, query;
    float scale;
} Asked;

/* Fills in the search; whether the arrays fit each other. */
int prepared(const Asked *asked, Search *search);

/* Room to begin in; whether there is any. */
int make_room(Search *search, Room *room);
void free_room(Room *room);

/* The highest value of each run, by which most are passed over. */
void find_peaks(const float *values, Py_ssize_t count, float *peaks);

/* Adds up the values and their squares, in any order: as float32 for a stretch, then in float64. */
void add_up(const float *values, Py_ssize_t count, double *total, double *square);

/* Finds the nearest, and all that equal the last. */
void find_nearest(const Search *all, Room *room);

/* The pair of bytes that Python is given. */
PyObject *pair_of(const Room *room);

#endif

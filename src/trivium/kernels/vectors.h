/* What is made of vectors, for those that look for the nearest. */
#ifndef TRIVIUM_VECTORS_H
#define TRIVIUM_VECTORS_H

#include "kernels.h"

/* Rows of codes, which of them, and what is made of each product: (factor · product + shift) · step
 * · scale. */
typedef struct {
    const char *codes;
    const float *steps;
    const int64_t *rows;
    Py_ssize_t count, width;
    const int8_t *query;
    int64_t factor, shift;
    float scale, *out;
} Pass;

extern void (*pass_halves)(const Pass *);
extern void (*pass_bytes)(const Pass *);

/* Whether `chosen`, or all, of the rows are `count` rows that exist. */
int exist(const Py_buffer *chosen, Py_ssize_t known, Py_ssize_t count);

/* The products of these rows, or of the first `count`, each added up from first to last. */
void add_exactly(const float *matrix, const int64_t *rows, Py_ssize_t count, const double *vector,
                 Py_ssize_t width, double *out);

#endif

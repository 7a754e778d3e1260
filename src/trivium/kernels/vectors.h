/* What is made of vectors, for those that look for the nearest. */
#ifndef TRIVIUM_VECTORS_H
#define TRIVIUM_VECTORS_H

#include "kernels.h"

#if defined(__GNUC__) && defined(__x86_64__) && !defined(_WIN32)
#define WITH_AVX2 1
#define AVX2 __attribute__((target("avx2")))
#endif

extern int uses_avx2; /* as `choose_instructions` has it */

#define LINE 64 /* bytes that come from memory at once */

/* Asks for a row, which is soon needed. */
static inline void
fetch(const char *row, Py_ssize_t width)
{
    for (Py_ssize_t i = 0; i < width; i += LINE)
        FETCH(row + i);
}

/* Rows of codes, which of them, and what is made of each product: (factor · product + shift) · step
 * · scale. The query is of int8 for half-bytes, and of int16 for bytes. */
typedef struct {
    const char *codes;
    const float *steps;
    const int64_t *rows;
    Py_ssize_t count, width;
    const void *query;
    int64_t factor, shift;
    float scale, *out;
} Pass;

extern void (*pass_halves)(const Pass *);
extern void (*pass_bytes)(const Pass *);

/* What `choose_instructions` does, for these. */
int choose_passes(int most);

/* Whether `chosen`, or all, of the rows are `count` rows that exist. */
int exist(const Py_buffer *chosen, Py_ssize_t known, Py_ssize_t count);

/* The products of these rows, or of the first `count`, each added up from first to last. */
void add_exactly(const float *matrix, const int64_t *rows, Py_ssize_t count, const double *vector,
                 Py_ssize_t width, double *out);

#endif

/* What the files of the kernels share. */
#ifndef TRIVIUM_KERNELS_H
#define TRIVIUM_KERNELS_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>

/* How many items of a type a buffer holds. */
#define ITEMS(buffer, type) ((buffer).len / (Py_ssize_t)sizeof(type))

/* A loop over many rows, compiled for wider registers as well where it can be chosen at start. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* Has memory brought that will be read soon. */
#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) ((void)(address))
#endif

#define WIDTH 6 /* searchable columns, as in COLUMNS of types/documents.py */
#define BODY 3  /* the body among them */

#define RUN 64 /* rows whose best is known, so that most are passed over without a look */

/* Gives the buffers back; with a reason it raises ValueError, else it returns None. */
PyObject *finished(Py_buffer *buffers, int count, const char *reason);
void let_go(Py_buffer *buffers, int count);

void choose_letters(void);

#define WIDEST 2 /* instructions: 0 are those of every processor, 1 is AVX2, 2 AVX-512 with VNNI */

/* Uses the widest that this processor has, but none beyond `most`; says which. */
int choose_instructions(int most);

/* Sizes of words: shorter and longer ones are not stemmed, and beyond the last they are cut. */
#define SHORTEST_STEMMED 3
#define LONGEST_STEMMED 64
#define LONGEST_INDEXED 32768

int porter(char *at, int size);

/* A heap whose top is the least: the value at the top sinks, or one at a place rises to its own. */
void heap_sink(double *heap, Py_ssize_t size);
void heap_rise(double *heap, Py_ssize_t at);

PyObject *instructions(PyObject *module, PyObject *args);
PyObject *use_processors(PyObject *module, PyObject *count);
PyObject *byte_products(PyObject *module, PyObject *args);
PyObject *float_products(PyObject *module, PyObject *args);
PyObject *exact_products(PyObject *module, PyObject *args);
PyObject *coded(PyObject *module, PyObject *args);
PyObject *sums(PyObject *module, PyObject *args);
PyObject *nearest(PyObject *module, PyObject *args);
PyObject *begin_nearest(PyObject *module, PyObject *args);
PyObject *end_nearest(PyObject *module, PyObject *under_way);
PyObject *score_rows(PyObject *module, PyObject *args);
PyObject *tally(PyObject *module, PyObject *args);
PyObject *lower_bound(PyObject *module, PyObject *args);
PyObject *rows_of(PyObject *module, PyObject *args);
PyObject *beside(PyObject *module, PyObject *args);
PyObject *chunk_ids(PyObject *module, PyObject *args);
PyObject *first_units(PyObject *module, PyObject *args);
PyObject *vocabulary(PyObject *module, PyObject *args);
PyObject *numbered(PyObject *module, PyObject *args);
PyObject *spans(PyObject *module, PyObject *args);
PyObject *sorted_words(PyObject *module, PyObject *args);
PyObject *forms_together(PyObject *module, PyObject *segments);
PyObject *inverted(PyObject *module, PyObject *args);
PyObject *positions_together(PyObject *module, PyObject *args);
PyObject *postings_together(PyObject *module, PyObject *args);

#endif

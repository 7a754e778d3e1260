/* Words by number: what tokens.c fills and sorting.c puts in order. */
#ifndef TRIVIUM_VOCABULARY_H
#define TRIVIUM_VOCABULARY_H

#include "kernels.h"

#define NAME "trivium.kernels.vocabulary"

/* A word: where its letters lie, how many, and what it is looked up by. */
typedef struct {
    uint64_t hash;
    size_t start, size;
} Word;

typedef struct {
    char *letters;
    size_t used, room;
    Word *words;
    int32_t count, known; /* so many words, and so many have room */
    int32_t *slots;       /* the number of a word and one, or 0; a power of two of them */
    size_t mask;
    uint64_t seed; /* whoever writes texts must not know which words collide */
    int busy;
} Vocabulary;

#endif

/* Numbers in the smallest type that holds all of an array. */
#ifndef TRIVIUM_NUMBERS_H
#define TRIVIUM_NUMBERS_H

#include "kernels.h"

/* A number of the smallest type that holds all of its array. */
static inline uint64_t
number_at(const void *numbers, Py_ssize_t at, Py_ssize_t size)
{
    switch (size) {
    case 1:
        return ((const uint8_t *)numbers)[at];
    case 2:
        return ((const uint16_t *)numbers)[at];
    case 4:
        return ((const uint32_t *)numbers)[at];
    default:
        return ((const uint64_t *)numbers)[at];
    }
}

/* Whether numbers of so many bytes can be read. */
static inline int
is_whole(Py_ssize_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

#endif

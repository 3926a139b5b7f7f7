/* documents.h: the documents that are measured.
 *
 * Made by code from a seed, the same bytes on every run and every machine, so
 * that every peer reads what we read. */
#ifndef BENCH_DOCUMENTS_H
#define BENCH_DOCUMENTS_H

#include "base/arena.h"

/* A workflow's state that fits schema.json. Documents of different seeds differ in their texts,
 * in which optional members are there, and in the order of members. */
str document_state(struct arena *a, uint64_t seed, size_t tasks, size_t task_bytes);

/* An object of `count` of the members property_0 … property_<of - 1>, spread evenly. */
str document_flat(struct arena *a, size_t count, size_t of);

/* A schema of an object with those `of` properties, each a string. */
str document_flat_schema(struct arena *a, size_t of);

/* Arrays of about that many bytes: prose with some escapes and some letters beyond ASCII, and rows
 * of integers and decimals. */
str document_strings(struct arena *a, size_t bytes);
str document_numbers(struct arena *a, size_t bytes);

#endif

/* truth.h - what the network models say beside what is known: rows of one table, each written down and then asserted
 *
 * tests/test-truth is a test like others. With the environment variable TRAINSHED_TRUTH it also appends what it finds
 * to the file of that name, bad rows included, as Markdown; `make truth` puts that into doc/truth.md. No number of the
 * table stands in a text: expected values are read from ../shared/data/measured/published/closed_forms.csv or worked
 * out where the row is made. */
#pragma once

#include "support.h"

typedef struct {
    const char *what;   /* the case */
    const char *source; /* the formula, or where it is published; of closed_forms.csv: its number */
    const char *unit;   /* "" = none */
    double expected, measured;
} TruthRow;

/* Begins a part of the table. */
void truth_part(const char *title);
/* Passes within that share of the expected value. */
void truth_within(const TruthRow *row, double share);
/* Passes within three standard errors. */
void truth_in_errors(const TruthRow *row, double standard_error);
/* Passes above expected, by at most that share. */
void truth_above(const TruthRow *row, double share);
/* Passes from `least` to `most`; expected is not used. */
void truth_between(const TruthRow *row, double least, double most);

/* Passes always: what a transport does where no bar is set. */
void truth_told(const TruthRow *row);

/* The answer of another simulator beside ours: a comparison, which passes always. */
void truth_beside_part(const char *title);
void truth_beside(const char *what, const char *peer, double answer_us, double ours_us);

/* A row of closed_forms.csv. */
typedef struct {
    char *id, *group, *formula, *inputs, *quantity, *unit;
    double value;
} TruthForm;

/* Calls check on each row whose group begins so; how many. */
uint32_t truth_each_form(const char *path, const char *group, void (*check)(const TruthForm *form));
/* "F123: formula"; kept until exit. */
const char *truth_source(const TruthForm *form);

/* The parts. */
TCase *truth_forms(void);
TCase *truth_queueing(void);
TCase *truth_dcqcn(void);
TCase *truth_long_link(void);
TCase *truth_fat_trees(void);
TCase *truth_two_way(void);

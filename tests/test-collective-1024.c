/* The rows of 1024 ranks: 2.1 million sends each in the grain steps. */
#define LARGEST 1024
#include "test-collective-closed-forms.c"

# cli: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/cli/command.c src/cli/command.h
libtrainshed_a_SOURCES += src/cli/table.c src/cli/table.h
check_PROGRAMS += tests/test-table
tests_test_table_LDADD = $(TEST_LIBS)
libtrainshed_a_SOURCES += src/cli/query.c

# cli: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/cli/command.c src/cli/command.h

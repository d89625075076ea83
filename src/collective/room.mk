# collective: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/collective/collective.h

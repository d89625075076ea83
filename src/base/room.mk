# base: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/base/error.c src/base/error.h
libtrainshed_a_SOURCES += src/base/index.h
libtrainshed_a_SOURCES += src/base/input.h
libtrainshed_a_SOURCES += src/base/json.h
libtrainshed_a_SOURCES += src/base/random.h
libtrainshed_a_SOURCES += src/base/sim_time.h
libtrainshed_a_SOURCES += src/base/suggest.h
libtrainshed_a_SOURCES += src/base/units.h

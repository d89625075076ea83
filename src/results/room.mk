# results: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/results/recorder.h

# workload: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/workload/program.h
libtrainshed_a_SOURCES += src/workload/program_text.h
libtrainshed_a_SOURCES += src/workload/trace_format.h

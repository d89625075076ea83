# cluster: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/cluster/placement.h
libtrainshed_a_SOURCES += src/cluster/observer.h

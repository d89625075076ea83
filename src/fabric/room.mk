# fabric: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/fabric/fabric.h
libtrainshed_a_SOURCES += src/fabric/generate.h
libtrainshed_a_SOURCES += src/fabric/graph_check.h
libtrainshed_a_SOURCES += src/fabric/graphml.h
libtrainshed_a_SOURCES += src/fabric/route.h

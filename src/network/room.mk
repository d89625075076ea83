# network: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/network/model.h
libtrainshed_a_SOURCES += src/network/network.h
libtrainshed_a_SOURCES += src/network/observer.h

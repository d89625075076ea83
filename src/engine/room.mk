# engine: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/engine/engine.h
libtrainshed_a_SOURCES += src/engine/event_queue.h

# scenario: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/scenario/scenario.h
libtrainshed_a_SOURCES += src/scenario/yaml_tree.h

# cli: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/cli/collective.c
libtrainshed_a_SOURCES += src/cli/collective_as.c src/cli/collective_as.h
libtrainshed_a_SOURCES += src/cli/command.c src/cli/command.h
libtrainshed_a_SOURCES += src/cli/table.c src/cli/table.h
check_PROGRAMS += tests/test-table
tests_test_table_LDADD = $(TEST_LIBS)
libtrainshed_a_SOURCES += src/cli/import.c src/cli/import.h
libtrainshed_a_SOURCES += src/cli/import_goal.c
TESTS_SH += tests/test-import-goal.sh
libtrainshed_a_SOURCES += src/cli/import_layers.c
TESTS_SH += tests/test-import-layers.sh
libtrainshed_a_SOURCES += src/cli/import_htsim.c
libtrainshed_a_SOURCES += src/cli/query.c
libtrainshed_a_SOURCES += src/cli/run.c
libtrainshed_a_SOURCES += src/cli/topology.c src/cli/topology.h
libtrainshed_a_SOURCES += src/cli/topology_check.c
libtrainshed_a_SOURCES += src/cli/topology_cut.c
libtrainshed_a_SOURCES += src/cli/jobs.c
libtrainshed_a_SOURCES += src/cli/measured.c
libtrainshed_a_SOURCES += src/cli/topology_join.c
libtrainshed_a_SOURCES += src/cli/subcommand.c src/cli/subcommand.h
libtrainshed_a_SOURCES += src/cli/topology_load.c
libtrainshed_a_SOURCES += src/cli/topology_options.c
libtrainshed_a_SOURCES += src/cli/topology_paths.c
libtrainshed_a_SOURCES += src/cli/topology_show.c
EXTRA_DIST += topologies/clos3-16384.yaml
EXTRA_DIST += topologies/dumbbell.graphml
EXTRA_DIST += topologies/nvl72-racks.yaml
EXTRA_DIST += topologies/shared-nics.yaml
EXTRA_DIST += topologies/two-buildings.yaml
EXTRA_DIST += topologies/two-regions.yaml
libtrainshed_a_SOURCES += src/cli/trace.c src/cli/trace_info.c src/cli/trace_info.h
libtrainshed_a_SOURCES += src/cli/trace_collectives.c
libtrainshed_a_SOURCES += src/cli/trace_generate.c src/cli/trace_generate.h
libtrainshed_a_SOURCES += src/cli/trace_loggops.c src/cli/trace_loggops.h
libtrainshed_a_SOURCES += src/cli/trace_survey.c src/cli/trace_survey.h
dist_man_MANS += doc/trainshed-trace.1
dist_man_MANS += doc/trainshed-topology.1
dist_man_MANS += doc/trainshed-run.1
dist_man_MANS += doc/trainshed-import.1 doc/trainshed-jobs.1
dist_man_MANS += doc/trainshed-measured.1
TESTS_SH += tests/test-jobs.sh
dist_man_MANS += doc/trainshed.1
EXTRA_DIST += doc/architecture.md
TESTS_SH += tests/test-topology.sh
TESTS_SH += tests/test-topology-join.sh
TESTS_SH += tests/test-trace-kineto.sh
TESTS_SH += tests/test-trace-info.sh
EXTRA_DIST += tests/data/trace-info/astra-sim.txt tests/data/trace-info/chakra-all-reduce.txt tests/data/trace-info/chakra-json.txt
EXTRA_DIST += tests/data/trace-info/chakra.txt tests/data/trace-info/dumpi.txt tests/data/trace-info/goal.txt
EXTRA_DIST += tests/data/trace-info/htsim.txt tests/data/trace-info/kineto-one.txt tests/data/trace-info/kineto.txt
EXTRA_DIST += tests/data/trace-info/layers.txt tests/data/trace-info/nsys-sizes.txt tests/data/trace-info/nsys.txt
EXTRA_DIST += tests/data/trace-info/program.txt tests/data/trace-info/simai.txt
EXTRA_DIST += tests/data/trace-info/liballprof.txt tests/data/trace-info/otf2.txt tests/data/trace-info/simgrid-ti.txt
EXTRA_DIST += bench/htsim.sh
check_PROGRAMS += tests/test-htsim
tests_test_htsim_LDADD = $(TEST_LIBS)
TESTS_SH += tests/test-import-htsim.sh

# Every connection matrix of htsim also on the packet model; in make check a few of them.
htsim-full: trainshed$(EXEEXT)
	HTSIM_FULL=yes TRAINSHED=$(abs_builddir)/trainshed SRCDIR=$(top_srcdir) sh $(top_srcdir)/tests/test-import-htsim.sh
.PHONY: htsim-full

# Every answer of ASTRA-sim at hand beside its arithmetic and beside our default.
astra-sim-table: trainshed$(EXEEXT)
	bash $(top_srcdir)/bench/astra-sim.sh $(abs_builddir)
.PHONY: astra-sim-table
EXTRA_DIST += bench/astra-sim.sh
check_PROGRAMS += tests/test-all-data
tests_test_all_data_LDADD = $(TEST_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz-trace-check
tests_fuzz_fuzz_trace_check_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_trace_check_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/trace-check.seeds

# scenario: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/scenario/fields.c src/scenario/fields.h
libtrainshed_a_SOURCES += src/scenario/run.c src/scenario/run.h
libtrainshed_a_SOURCES += src/scenario/scenario.c src/scenario/scenario.h
libtrainshed_a_SOURCES += src/scenario/scenario_fabric.c
libtrainshed_a_SOURCES += src/scenario/scenario_faults.c
libtrainshed_a_SOURCES += src/scenario/scenario_generate.c
libtrainshed_a_SOURCES += src/scenario/scenario_jobs.c
libtrainshed_a_SOURCES += src/scenario/scenario_network.c
libtrainshed_a_SOURCES += src/scenario/scenario_packet.c
libtrainshed_a_SOURCES += src/scenario/scenario_parts.h
libtrainshed_a_SOURCES += src/scenario/scenario_queue.c
libtrainshed_a_SOURCES += src/scenario/scenario_settings.c
libtrainshed_a_SOURCES += src/scenario/training.c src/scenario/training.h
libtrainshed_a_SOURCES += src/scenario/training_model.c src/scenario/training_parts.h
libtrainshed_a_SOURCES += src/scenario/setup.c src/scenario/setup.h
check_PROGRAMS += tests/test-scenario
tests_test_scenario_LDADD = $(TEST_LIBS)
EXTRA_DIST += scenarios/dlrm-two-streams.yaml
EXTRA_DIST += scenarios/late-arrival.yaml
EXTRA_DIST += scenarios/one-port-down-channels.yaml
EXTRA_DIST += scenarios/long-link.yaml
EXTRA_DIST += scenarios/one-port-down.yaml
EXTRA_DIST += scenarios/packets-incast.yaml traces/all-to-all-32.program
TESTS_SH += tests/test-run-packet.sh
TESTS_SH += tests/test-models.sh
TESTS_SH += tests/test-run-settings.sh
EXTRA_DIST += scenarios/recorded-alone.yaml
EXTRA_DIST += scenarios/two-buildings-axes.yaml traces/step-dp-pp.program
EXTRA_DIST += scenarios/two-buildings-two-tenants.yaml
EXTRA_DIST += scenarios/unscaled-two-tenants.yaml
FUZZ_TARGETS += tests/fuzz/fuzz-scenario
tests_fuzz_fuzz_scenario_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_scenario_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/scenario.seeds
dist_man_MANS += doc/trainshed-scenario.5
TESTS_SH += tests/test-late-arrival.sh
TESTS_SH += tests/test-queue-run.sh
TESTS_SH += tests/test-run.sh tests/test-train.sh tests/test-train-scenarios.sh
EXTRA_DIST += scenarios/llama3-405b-16k.yaml scenarios/two-buildings-which-axis-crosses.yaml

# Published training times beside ours, half an hour: writes the table of doc/validation.md, worst rows included.
validation: trainshed$(EXEEXT)
	SHARED=$${SHARED:-$(abs_top_srcdir)/../shared} $(top_srcdir)/scripts/validation ./trainshed$(EXEEXT)
.PHONY: validation
EXTRA_DIST += scripts/validate scripts/validation scripts/lib/hardware.validate doc/validation.md

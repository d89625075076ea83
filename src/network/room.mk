# network: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/network/activity.c src/network/activity.h
libtrainshed_a_SOURCES += src/network/all_pairs.c src/network/all_pairs.h
libtrainshed_a_SOURCES += src/network/analytic.c
libtrainshed_a_SOURCES += src/network/demand.c src/network/demand.h
libtrainshed_a_SOURCES += src/network/end_heap.c src/network/end_heap.h
libtrainshed_a_SOURCES += src/network/flow_classes.c src/network/flow_classes.h
libtrainshed_a_SOURCES += src/network/fluid.c src/network/fluid_ramp.c src/network/fluid_reroute.c src/network/fluid_claim.c src/network/fluid_phase.c src/network/fluid_state.h
libtrainshed_a_SOURCES += src/network/fluid_course.c src/network/fluid_course.h
libtrainshed_a_SOURCES += src/network/fluid_hold.c src/network/hold.h
libtrainshed_a_SOURCES += src/network/fluid_ways.c src/network/fluid_ways.h
libtrainshed_a_SOURCES += src/network/hosts.c src/network/hosts.h
libtrainshed_a_SOURCES += src/network/link_claim.c src/network/link_claim.h
libtrainshed_a_SOURCES += src/network/loss.c src/network/loss.h src/network/loss_look.c src/network/loss_state.h
libtrainshed_a_SOURCES += src/network/loss_book.c src/network/loss_book.h
libtrainshed_a_SOURCES += src/network/loss_claim.c src/network/loss_claim.h
libtrainshed_a_SOURCES += src/network/loss_group.c src/network/loss_group.h
libtrainshed_a_SOURCES += src/network/loss_meter.c src/network/loss_meter.h
libtrainshed_a_SOURCES += src/network/loss_spread.c src/network/loss_spread.h
libtrainshed_a_SOURCES += src/network/loss_tape.c src/network/loss_tape.h
libtrainshed_a_SOURCES += src/network/count.c src/network/count.h src/network/fixed.h src/network/level_fill.c src/network/level_fill.h
libtrainshed_a_SOURCES += src/network/link_clock.c src/network/link_clock.h
libtrainshed_a_SOURCES += src/network/maxmin.c src/network/maxmin.h src/network/maxmin_fill.c src/network/maxmin_heap.c
libtrainshed_a_SOURCES += src/network/maxmin_hold.c src/network/maxmin_solve.c src/network/maxmin_state.h
libtrainshed_a_SOURCES += src/network/maxmin_ladder.c src/network/maxmin_ladder.h
libtrainshed_a_SOURCES += src/network/model.h
libtrainshed_a_SOURCES += src/network/network.c src/network/network.h
libtrainshed_a_SOURCES += src/network/observer.h
libtrainshed_a_SOURCES += src/network/packet.c src/network/packet_net.h
libtrainshed_a_SOURCES += src/network/packet_books.c
libtrainshed_a_SOURCES += src/network/packet_claim.c src/network/packet_claim.h
libtrainshed_a_SOURCES += src/network/packet_config.h
libtrainshed_a_SOURCES += src/network/packet_flow.c
libtrainshed_a_SOURCES += src/network/packet_limit.c
libtrainshed_a_SOURCES += src/network/packet_losses.c src/network/packet_losses.h
libtrainshed_a_SOURCES += src/network/packet_path.c
libtrainshed_a_SOURCES += src/network/packet_pfc.c
libtrainshed_a_SOURCES += src/network/packet_port.c
libtrainshed_a_SOURCES += src/network/packet_receive.c
libtrainshed_a_SOURCES += src/network/packet_transport.c
libtrainshed_a_SOURCES += src/network/path_limit.c src/network/path_limit.h
libtrainshed_a_SOURCES += src/network/phase.c src/network/phase.h src/network/phase_state.h
libtrainshed_a_SOURCES += src/network/recorded.c
libtrainshed_a_SOURCES += src/network/recovery.c src/network/recovery.h src/network/recovery_state.h
libtrainshed_a_SOURCES += src/network/transport.c src/network/transport.h
libtrainshed_a_SOURCES += src/network/transport_dcqcn.c
libtrainshed_a_SOURCES += src/network/transport_hpcc.c
libtrainshed_a_SOURCES += src/network/transport_ndp.c
libtrainshed_a_SOURCES += src/network/transport_swift.c
libtrainshed_a_SOURCES += src/network/transport_timely.c
libtrainshed_a_SOURCES += src/network/transport_window.c
libtrainshed_a_SOURCES += src/network/repeat.c src/network/repeat.h
libtrainshed_a_SOURCES += src/network/usage.c src/network/usage.h src/network/usage_state.h
libtrainshed_a_SOURCES += src/network/usage_tape.c
check_PROGRAMS += tests/test-link-clock
tests_test_link_clock_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-maxmin
tests_test_maxmin_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-fluid
tests_test_fluid_SOURCES = tests/test-fluid.c tests/network_fixture.c tests/network_fixture.h
tests_test_fluid_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-loss
tests_test_loss_SOURCES = tests/test-loss.c tests/network_fixture.c tests/network_fixture.h
tests_test_loss_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-usage
tests_test_usage_SOURCES = tests/test-usage.c tests/network_fixture.c tests/network_fixture.h
tests_test_usage_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-analytic
tests_test_analytic_SOURCES = tests/test-analytic.c tests/network_fixture.c tests/network_fixture.h
tests_test_analytic_LDADD = $(TEST_LIBS)
EXTRA_PROGRAMS += bench/packet
bench_packet_SOURCES = bench/packet.c bench/fat_tree.c bench/fat_tree.h bench/replay.c bench/replay.h
bench_packet_LDADD = libtrainshed.a $(TRAINSHED_LIBS) -lm
check_PROGRAMS += tests/test-packet tests/test-packet-runs
tests_test_packet_SOURCES = tests/test-packet.c tests/packet_fixture.c tests/packet_fixture.h tests/network_fixture.c \
	tests/network_fixture.h
tests_test_packet_LDADD = $(TEST_LIBS)
tests_test_packet_runs_SOURCES = tests/test-packet-runs.c tests/packet_fixture.c tests/packet_fixture.h \
	tests/network_fixture.c tests/network_fixture.h
tests_test_packet_runs_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-packet-books
tests_test_packet_books_SOURCES = tests/test-packet-books.c tests/packet_fixture.c tests/packet_fixture.h \
	tests/network_fixture.c tests/network_fixture.h
tests_test_packet_books_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-transport-params
tests_test_transport_params_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-path-limit
tests_test_path_limit_SOURCES = tests/test-path-limit.c tests/network_fixture.c tests/network_fixture.h
tests_test_path_limit_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-differential
tests_test_differential_SOURCES = tests/test-differential.c tests/random_world.c tests/random_world.h \
	tests/reference.c tests/reference.h
tests_test_differential_LDADD = $(TEST_LIBS)

check_PROGRAMS += tests/test-differential-holds
tests_test_differential_holds_SOURCES = tests/test-differential-holds.c tests/random_world.c tests/random_world.h
tests_test_differential_holds_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-flow-classes
tests_test_flow_classes_SOURCES = tests/test-flow-classes.c tests/random_world.c tests/random_world.h tests/reference.c \
	tests/reference.h
tests_test_flow_classes_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-differential-phases
tests_test_differential_phases_SOURCES = tests/test-differential-phases.c tests/random_world.c tests/random_world.h
tests_test_differential_phases_LDADD = $(TEST_LIBS)

# The differential tests at far more seeds than make check has; prints what fails.
DIFFERENTIAL = tests/test-differential tests/test-differential-grains tests/test-differential-holds tests/test-differential-phases \
	tests/test-differential-runs
differential: $(DIFFERENTIAL)
	@for test in $(DIFFERENTIAL); do \
	  DIFFERENTIAL_SEEDS=$${DIFFERENTIAL_SEEDS:-5000} $$test > differential.tap; status=$$?; \
	  echo $$test; grep -v '^ok' differential.tap; test $$status -eq 0 || exit $$status; \
	done; rm -f differential.tap
.PHONY: differential
EXTRA_PROGRAMS += bench/fluid
bench_fluid_LDADD = libtrainshed.a $(TRAINSHED_LIBS) -lm
EXTRA_PROGRAMS += bench/peers/fluid
bench_peers_fluid_SOURCES = bench/peers/fluid.c bench/fat_tree.c bench/fat_tree.h
bench_peers_fluid_LDADD = libtrainshed.a $(TRAINSHED_LIBS) -lm
EXTRA_PROGRAMS += bench/peers/packet
bench_peers_packet_SOURCES = bench/peers/packet.c bench/fat_tree.c bench/fat_tree.h
bench_peers_packet_LDADD = libtrainshed.a $(TRAINSHED_LIBS) -lm
EXTRA_DIST += bench/peers/README.md bench/peers/common.sh bench/peers/ns3.cc bench/peers/ns3.sh \
	bench/peers/simgrid.cpp bench/peers/simgrid.sh
check_PROGRAMS += tests/test-transport
tests_test_transport_SOURCES = tests/test-transport.c tests/transport_world.c tests/transport_world.h tests/network_fixture.c tests/network_fixture.h
tests_test_transport_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-transport-loss
tests_test_transport_loss_SOURCES = tests/test-transport-loss.c tests/transport_world.c tests/transport_world.h tests/network_fixture.c tests/network_fixture.h
tests_test_transport_loss_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-control-loss
tests_test_control_loss_SOURCES = tests/test-control-loss.c tests/transport_world.c tests/transport_world.h \
	tests/network_fixture.c tests/network_fixture.h
tests_test_control_loss_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-truth
tests_test_truth_SOURCES = tests/test-truth.c tests/truth.c tests/truth.h tests/truth_dcqcn.c tests/truth_fat_trees.c \
	tests/truth_forms.c tests/truth_long_link.c tests/truth_queueing.c tests/truth_two_way.c tests/network_fixture.c tests/network_fixture.h \
	tests/reference.c tests/reference.h tests/transport_world.c tests/transport_world.h bench/fat_tree.c bench/fat_tree.h \
	bench/replay.c bench/replay.h
tests_test_truth_LDADD = $(TEST_LIBS)

# What make check has of it in short form, whole, minutes: writes the table of doc/truth.md, bad rows included.
truth: tests/test-truth$(EXEEXT)
	SRCDIR=$(abs_top_srcdir) SHARED=$${SHARED:-$(abs_top_srcdir)/../shared} $(top_srcdir)/scripts/truth tests/test-truth$(EXEEXT)
.PHONY: truth
EXTRA_DIST += scripts/truth doc/truth.md
check_PROGRAMS += tests/test-loss-spread
tests_test_loss_spread_SOURCES = tests/test-loss-spread.c tests/network_fixture.c tests/network_fixture.h
tests_test_loss_spread_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-reroute
tests_test_reroute_SOURCES = tests/test-reroute.c tests/packet_fixture.c tests/packet_fixture.h \
	tests/network_fixture.c tests/network_fixture.h
tests_test_reroute_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-packet-limits
tests_test_packet_limits_SOURCES = tests/test-packet-limits.c tests/packet_fixture.c tests/packet_fixture.h \
	tests/network_fixture.c tests/network_fixture.h
tests_test_packet_limits_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-all-pairs
tests_test_all_pairs_SOURCES = tests/test-all-pairs.c tests/random_world.c tests/random_world.h
tests_test_all_pairs_LDADD = $(TEST_LIBS)

# workload: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/workload/chakra.c src/workload/chakra_json.c src/workload/chakra_groups.c
libtrainshed_a_SOURCES += src/workload/chakra_settle.c
libtrainshed_a_SOURCES += src/workload/chakra_trace.c src/workload/chakra_trace.h
libtrainshed_a_SOURCES += src/workload/chakra_workload.c
libtrainshed_a_SOURCES += src/workload/check_collectives.c
libtrainshed_a_SOURCES += src/workload/check_messages.c
libtrainshed_a_SOURCES += src/workload/execution_trace.c src/workload/execution_trace.h
libtrainshed_a_SOURCES += src/workload/htsim_cm.c src/workload/htsim_cm.h
libtrainshed_a_SOURCES += src/workload/htsim_triggers.c
libtrainshed_a_SOURCES += src/workload/htsim_workload.c
libtrainshed_a_SOURCES += src/workload/kineto.c src/workload/kineto.h
libtrainshed_a_SOURCES += src/workload/kineto_comm.c
libtrainshed_a_SOURCES += src/workload/kineto_emit.c
libtrainshed_a_SOURCES += src/workload/kineto_event.c
libtrainshed_a_SOURCES += src/workload/kineto_file.c src/workload/kineto_file.h
libtrainshed_a_SOURCES += src/workload/kineto_graph.c src/workload/kineto_graph.h
libtrainshed_a_SOURCES += src/workload/kineto_join.c src/workload/kineto_rank.h
libtrainshed_a_SOURCES += src/workload/kineto_match.c
libtrainshed_a_SOURCES += src/workload/kineto_streams.c
libtrainshed_a_SOURCES += src/workload/kineto_survey.c
libtrainshed_a_SOURCES += src/workload/program.c src/workload/program.h
libtrainshed_a_SOURCES += src/workload/program_check.c src/workload/program_check.h
libtrainshed_a_SOURCES += src/workload/program_header.c
libtrainshed_a_SOURCES += src/workload/program_op.c src/workload/program_words.h
libtrainshed_a_SOURCES += src/workload/program_order.c
libtrainshed_a_SOURCES += src/workload/program_text.c src/workload/program_text.h
libtrainshed_a_SOURCES += src/workload/program_token.c src/workload/program_token.h
libtrainshed_a_SOURCES += src/workload/program_write.c
libtrainshed_a_SOURCES += src/workload/trace_format.c src/workload/trace_format.h
libtrainshed_a_SOURCES += src/workload/trace_writer.c src/workload/trace_writer.h
check_PROGRAMS += tests/test-kineto tests/test-kineto-refusals tests/test-kineto-survey
tests_test_kineto_LDADD = $(TEST_LIBS)
tests_test_kineto_refusals_LDADD = $(TEST_LIBS)
tests_test_kineto_survey_LDADD = $(TEST_LIBS)

check_PROGRAMS += tests/test-chakra tests/test-program tests/test-program-text tests/test-trace-format
tests_test_chakra_LDADD = $(TEST_LIBS)
tests_test_program_LDADD = $(TEST_LIBS)
tests_test_program_text_LDADD = $(TEST_LIBS)
tests_test_trace_format_LDADD = $(TEST_LIBS)
TESTS_SH += tests/test-trace.sh
FUZZ_TARGETS += tests/fuzz/fuzz-chakra tests/fuzz/fuzz-program-text
tests_fuzz_fuzz_chakra_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_chakra_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_program_text_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_program_text_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/chakra.seeds tests/fuzz/program-text.seeds
dist_man_MANS += doc/trainshed-program.5

# Chakra's messages: protobuf-c's code is made at build time.
EXTRA_DIST += src/workload/chakra.proto
nodist_libtrainshed_a_SOURCES += src/workload/chakra.pb-c.c src/workload/chakra.pb-c.h
BUILT_SOURCES += src/workload/chakra.pb-c.h
CLEANFILES += src/workload/chakra.pb-c.c src/workload/chakra.pb-c.h
src/workload/chakra.pb-c.c src/workload/chakra.pb-c.h &: src/workload/chakra.proto
	$(AM_V_GEN)$(MKDIR_P) src/workload && \
	  $(PROTOC_C) --proto_path=$(srcdir)/src/workload --c_out=src/workload $(srcdir)/src/workload/chakra.proto
src/workload/chakra.$(OBJEXT): src/workload/chakra.pb-c.h
EXTRA_DIST += traces/dlrm-two-streams.program traces/llama/README.md traces/llama/llama.json traces/dlrm-w8/README.md traces/all-reduce-32.program traces/send-across.program
EXTRA_DIST += traces/llama/llama.0.et traces/llama/llama.1.et traces/llama/llama.2.et traces/llama/llama.3.et
EXTRA_DIST += traces/llama/llama.4.et traces/llama/llama.5.et traces/llama/llama.6.et traces/llama/llama.7.et
EXTRA_DIST += traces/dlrm-w8/dlrm-w8-kineto-rank0.json.gz traces/dlrm-w8/dlrm-w8-et-rank0.json.gz
EXTRA_DIST += traces/dlrm-w8/dlrm-w8-kineto-rank1.json.gz traces/dlrm-w8/dlrm-w8-et-rank1.json.gz
EXTRA_DIST += traces/dlrm-w8/dlrm-w8-kineto-rank2.json.gz traces/dlrm-w8/dlrm-w8-et-rank2.json.gz
EXTRA_DIST += traces/dlrm-w8/dlrm-w8-kineto-rank3.json.gz traces/dlrm-w8/dlrm-w8-et-rank3.json.gz
EXTRA_DIST += traces/dlrm-w8/dlrm-w8-kineto-rank4.json.gz traces/dlrm-w8/dlrm-w8-et-rank4.json.gz
EXTRA_DIST += traces/dlrm-w8/dlrm-w8-kineto-rank5.json.gz traces/dlrm-w8/dlrm-w8-et-rank5.json.gz
EXTRA_DIST += traces/dlrm-w8/dlrm-w8-kineto-rank6.json.gz traces/dlrm-w8/dlrm-w8-et-rank6.json.gz
EXTRA_DIST += traces/dlrm-w8/dlrm-w8-kineto-rank7.json.gz traces/dlrm-w8/dlrm-w8-et-rank7.json.gz
FUZZ_TARGETS += tests/fuzz/fuzz-execution-trace tests/fuzz/fuzz-kineto
tests_fuzz_fuzz_execution_trace_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_execution_trace_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_kineto_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_kineto_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/execution-trace.seeds tests/fuzz/kineto.seeds
EXTRA_DIST += tests/fuzz/kineto-arguments.txt tests/fuzz/kineto-execution.txt
FUZZ_TARGETS += tests/fuzz/fuzz-htsim-cm
tests_fuzz_fuzz_htsim_cm_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_htsim_cm_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/htsim-cm.seeds

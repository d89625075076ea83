/* What the Kineto reader refuses, with its words, and odd files it takes. Messages are whole, but for the folder. */
#include "base/error.h"
#include "support.h"
#include "workload/execution_trace.h"
#include "workload/kineto_file.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>

/* Events, written once. X: a complete event. */
#define X(cat, name, tid, ts, dur, args)                                                                               \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur  \
    ",\"args\":{" args "}}"
#define LAUNCH X("cuda_runtime", "cudaLaunchKernel", 1, 10, 5, "\"correlation\":1")
#define KERNEL X("kernel", "k", 7, 16, 4, "\"correlation\":1")
#define NCCL(more) X("kernel", "ncclKernel_AllReduce<x>(y)", 20, 16.5, 4, "\"correlation\":1" more)
#define COMM(args) X("cpu_op", "record_param_comms", 1, 9, 8, args)
#define RANK(rank, world, events)                                                                                      \
    "{\"distributedInfo\":{\"rank\":" #rank ",\"world_size\":" #world "},\"traceEvents\":[" events "]}"
#define PLAIN(rank, world) RANK(rank, world, LAUNCH "," KERNEL)
/* Collective arguments. */
#define ARGS(name, in, out, dtype, size, ranks, more)                                                                  \
    ",\"Collective name\":\"" name "\",\"In msg nelems\":" #in ",\"Out msg nelems\":" #out ",\"dtype\":\"" dtype       \
    "\",\"Group size\":" #size ",\"Process Group Name\":\"g\",\"Process Group Ranks\":\"" ranks "\"" more
#define CALLED(rank, args) RANK(rank, 2, LAUNCH "," NCCL(args))
#define REDUCE CALLED(1, ARGS("allreduce", 8, 8, "Float", 2, "[0, 1]", ""))
/* Execution traces. */
#define NODE(id, inputs)                                                                                               \
    "{\"name\":\"record_param_comms\",\"id\":" #id ",\"tid\":1,\"inputs\":[" inputs "],\"outputs\":[]}"
#define ET(schema, nodes) "{\"schema\":\"" schema "\",\"nodes\":[" nodes "]}"
#define REDUCE_NODE(rank) NODE(5, "[[1,2,0,8,4,\"cuda:0\"]],3,99," #rank ",\"allreduce\",[],[]")
#define SIZED(rank) RANK(rank, 2, LAUNCH "," NCCL("") "," COMM(""))

/* Bytes from 0: an event after RANK's 60 bytes, and LAUNCH's 114 and a comma. */
#define AT "a.json: byte 175: NCCL kernel \"ncclKernel_AllReduce\" at ts 16.500 us"
#define BT "b.json: byte 175: NCCL kernel \"ncclKernel_AllReduce\" at ts 16.500 us"

/* Kineto files a and b, execution traces c and d; NULL = none. */
static const struct {
    const char *a, *b, *c, *d, *message;
} refused[] = {
    {"hello", NULL, NULL, NULL, "a.json:1: byte 1: broken JSON: lexical error: invalid char in json text."},
    {"17", NULL, NULL, NULL, "a.json:1: expected the object of a Kineto trace"},
    {"{\"nodes\":[]}", NULL, NULL, NULL,
     "a.json: no traceEvents: this is no Kineto trace; an execution trace has no times, and goes beside its Kineto "
     "file (--execution-trace, execution_trace:)"},
    {"{\"traceEvents\":{}}", NULL, NULL, NULL, "a.json:1: traceEvents is no array"},
    {"{\"traceEvents\":[1]}", NULL, NULL, NULL, "a.json:1: traceEvents: expected objects, one an event"},
    {"{\"traceEvents\":[" LAUNCH ",", NULL, NULL, NULL, "a.json:1: byte 131: the JSON text ends before its value does"},
    {"[" LAUNCH "," NCCL("") "]", NULL, NULL, NULL,
     "a.json: distributedInfo names no rank, so it is not known whose trace this is"},
    {RANK(0, 1, LAUNCH), NULL, NULL, NULL,
     "a.json: no kernels, copies or fills: no device work was recorded, nothing can be replayed"},
    {PLAIN(-1, 1), NULL, NULL, NULL,
     "a.json:1: distributedInfo.rank is -1, expected a whole number from 0 to 4294967294"},
    {PLAIN(1e99, 1), NULL, NULL, NULL,
     "a.json:1: distributedInfo.rank is 1e99, expected a whole number from 0 to 4294967294"},
    {PLAIN(2, 2), NULL, NULL, NULL, "a.json: rank 2 of a world of 2"},
    {PLAIN(0, 128), PLAIN(1, 128), NULL, NULL,
     "a.json is of a job of 128 ranks, but only 2 of their files are given; missing: 2, 3, 4, 5, 6, 7, 8, 9, .... "
     "Waiting "
     "and transfer cannot be told apart without all of them"},
    {PLAIN(1, 2), NULL, NULL, NULL,
     "a.json is of a job of 2 ranks, but only 1 of their files are given; missing: 0. Waiting and transfer cannot be "
     "told "
     "apart without all of them"},
    {PLAIN(0, 2), PLAIN(0, 2), NULL, NULL, "a.json and b.json are both of rank 0"},
    {PLAIN(0, 2), PLAIN(1, 4), NULL, NULL, "a.json is of a job of 2 ranks, b.json of one of 4"},
    {PLAIN(0, 2), PLAIN(1, 2), ET("1.0.1", ""), NULL,
     "2 Kineto files, but 1 execution traces: there must be one for each rank or none"},
    /* Times and ids. */
    {RANK(0, 1, X("kernel", "k", 7, NaN, 4, "")), NULL, NULL, NULL, "a.json:1: byte 118: broken JSON: "},
    {RANK(0, 1, X("kernel", "k", 7, "x", 4, "")), NULL, NULL, NULL,
     "a.json:1: byte 60: event \"k\": ts is missing or no decimal number of microseconds in range"},
    {RANK(0, 1, X("kernel", "k", 7, 5, 1e300, "")), NULL, NULL, NULL,
     "a.json:1: byte 60: event \"k\": dur is missing or no decimal number of microseconds in range"},
    {RANK(0, 1, X("kernel", "k", 7, 5, -0.001, "")), NULL, NULL, NULL,
     "a.json:1: byte 60: event \"k\": dur is negative"},
    {RANK(0, 1, X("kernel", "k", 7, 9000000000000000, 9000000000000000, "")), NULL, NULL, NULL,
     "a.json:1: byte 60: event \"k\": ts + dur is out of range"},
    {RANK(0, 1, X("kernel", "k", 7, 5, 9000000000000000, "")), NULL, NULL, NULL,
     "a.json: times from 5000 to 9000000000000005000 ns, baseTimeNanoseconds 0: out of range"},
    {RANK(0, 1, X("kernel", "k", 7, 5, 4, "\"correlation\":1.5")), NULL, NULL, NULL,
     "a.json:1: byte 60: event \"k\": correlation is 1.5, which is not what stands there"},
    {RANK(0, 1, X("kernel", "k", 7, 5, 4, "\"correlation\":18446744073709551616")), NULL, NULL, NULL,
     "a.json:1: byte 60: event \"k\": correlation is 18446744073709551616, which is not what stands there"},
    {"{\"baseTimeNanoseconds\":0.5,\"traceEvents\":[]}", NULL, NULL, NULL,
     "a.json:1: baseTimeNanoseconds is 0.5, expected a whole number of nanoseconds"},
    /* Sizes. */
    {RANK(0, 2, LAUNCH "," NCCL("")), REDUCE, NULL, NULL,
     AT " carries no collective arguments, so its bytes are not known: give the execution trace of rank 0 with it "
        "(execution_trace:)"},
    {RANK(0, 2, LAUNCH "," NCCL("")), REDUCE, ET("1.0.1", ""), ET("1.0.1", ""),
     AT
     " carries no collective arguments and was launched outside every record_param_comms, so c.json does not tell its "
     "bytes"},
    {CALLED(0, ARGS("gather", 8, 8, "Float", 2, "[0, 1]", "")), REDUCE, NULL, NULL,
     AT ": collective \"gather\" is not replayed; all-reduce, all-gather, reduce-scatter, all-to-all(v), broadcast, "
        "reduce, barrier, send and recv are"},
    {CALLED(0, ARGS("allreduce", 8, 8, "Quaternion", 2, "[0, 1]", "")), REDUCE, NULL, NULL,
     AT ": dtype \"Quaternion\" has no known size"},
    {CALLED(0, ARGS("allreduce", -8, 8, "Float", 2, "[0, 1]", "")), REDUCE, NULL, NULL,
     AT ": \"In msg nelems\" is missing or negative, so its size is not known"},
    {CALLED(0, ARGS("allreduce", 9223372036854775807, 8, "Float", 2, "[0, 1]", "")), REDUCE, NULL, NULL,
     AT ": \"In msg nelems\" 9223372036854775807 is more than 64 bits of bytes"},
    /* Groups. */
    {CALLED(0, ARGS("allreduce", 8, 8, "Float", 2, "[1, 2]", "")), REDUCE, NULL, NULL,
     AT ": process group \"g\" names rank 2, which the job has not"},
    {CALLED(0, ARGS("allreduce", 8, 8, "Float", 2, "[0, ...]", "")), REDUCE, NULL, NULL, NULL},
    {CALLED(0, ARGS("allreduce", 8, 8, "Float", 1, "[1]", "")), REDUCE, NULL, NULL,
     AT ": process group \"g\" does not hold rank 0"},
    {CALLED(0, ARGS("allreduce", 8, 8, "Float", 2, "[0, 0]", "")), REDUCE, NULL, NULL,
     AT ": process group \"g\" names rank 0 twice"},
    {CALLED(0, ARGS("allreduce", 8, 8, "Float", 3, "[0, 1]", "")), REDUCE, NULL, NULL,
     AT ": process group \"g\" has 2 ranks, but Group size is 3"},
    /* Ranks that do not agree. */
    {CALLED(0, ARGS("allreduce", 9, 9, "Float", 2, "[0, 1]", "")), REDUCE, NULL, NULL,
     BT " is collective 0 of group \"g\": allreduce of 32 B, on rank 0 it is allreduce of 36 B"},
    {CALLED(0, ARGS("broadcast", 8, 8, "Float", 2, "[0, 1]", "")), REDUCE, NULL, NULL,
     BT " is collective 0 of group \"g\": allreduce of 32 B, on rank 0 it is broadcast of 32 B"},
    {PLAIN(0, 2), REDUCE, NULL, NULL,
     "group \"g\": a.json (rank 0) has 0 collectives, b.json (rank 1) has 1: they are not of one run, or not of the "
     "same "
     "steps"},
    /* Splits. */
    {CALLED(0, ARGS("all_to_allv", 8, 8, "Float", 2, "[0, 1]", ",\"In split size\":\"[3, 5]\"")),
     CALLED(1, ARGS("all_to_allv", 8, 8, "Float", 2, "[0, 1]", ",\"Out split size\":\"[4, 4]\"")), NULL, NULL,
     "collective 0 of group \"g\", all_to_allv: rank 0 (a.json) sends 20 B to rank 1 (b.json), which expects 16 B"},
    {CALLED(0, ARGS("all_to_allv", 8, 8, "Float", 2, "[0, 1]", ",\"In split size\":\"[3, 4]\"")), REDUCE, NULL, NULL,
     AT ": split sizes sum to 7 elements, the tensor has 32 bytes"},
    {CALLED(0, ARGS("all_to_allv", 8, 8, "Float", 2, "[0, 1]", ",\"In split size\":\"[8]\"")), REDUCE, NULL, NULL,
     AT ": 1 split sizes in a group of 2 ranks"},
    {CALLED(0, ARGS("all_to_allv", 8, 8, "Float", 2, "[0, 1]", ",\"In split size\":\"[4, ...]\"")), REDUCE, NULL, NULL,
     AT ": \"In split size\" is cut after 1 of 2 sizes; the execution trace has them all"},
    {CALLED(0, ARGS("all_to_allv", 8, 8, "Float", 2, "[0, 1]", ",\"In split size\":\"4 4\"")), REDUCE, NULL, NULL,
     AT ": \"In split size\" is \"4 4\", expected a list such as \"[4, 4]\""},
    {CALLED(0, ARGS("send", 8, 8, "Float", 2, "[0, 1]", "")), REDUCE, NULL, NULL,
     AT ": send with no rank at its other end: expected \"Dst Rank\" from 0 to 1"},
    /* Execution traces. */
    {SIZED(0), SIZED(1), ET("2.0", ""), ET("2.0", ""),
     "c.json: execution trace of schema \"2.0\"; 1.0.1 to 1.0.3, 1.1.0 and 1.1.1 are read"},
    {SIZED(0), SIZED(1), SIZED(0), SIZED(1), "c.json: no schema: this is no PyTorch execution trace"},
    {SIZED(0), SIZED(1), "[]", "[]", "c.json:1: expected the object of a PyTorch execution trace"},
    {SIZED(0), SIZED(1), "{\"schema\":\"1.0.1\",\"nodes\":[", "{}",
     "c.json:1: byte 27: the JSON text ends before its value does"},
    {SIZED(0), SIZED(1), ET("1.0.1", ""), ET("1.0.1", ""),
     "a.json has record_param_comms on 1 threads, c.json on 0: they are not of one run"},
    {SIZED(0), SIZED(1), ET("1.0.1", REDUCE_NODE(0) "," REDUCE_NODE(0)), ET("1.0.1", ""),
     "a.json has 1 record_param_comms on thread 1/1, c.json has 2 on its thread 1: they are not of one run"},
    {SIZED(0), SIZED(1), ET("1.0.1", REDUCE_NODE(1)), ET("1.0.1", REDUCE_NODE(0)),
     AT ": c.json is of rank 1, but its Kineto file is of rank 0"},
    {RANK(0, 2, LAUNCH "," NCCL("") "," COMM("\"Input Dims\":[[2,2],[]]")), SIZED(1), ET("1.0.1", REDUCE_NODE(0)),
     ET("1.0.1", REDUCE_NODE(1)),
     "a.json: record_param_comms 0 of thread 1/1 has a tensor of 4 elements, node 5 of c.json one of 8: they are not "
     "of "
     "one run"},
    {SIZED(0), SIZED(1), ET("1.0.1", NODE(5, "1,2")), ET("1.0.1", ""),
     "c.json:1: node 5: inputs of record_param_comms, expected [tensors, seq, group, rank, name, in split, out split]"},
    {SIZED(0), SIZED(1), ET("1.0.1", NODE(-5, "1,2")), ET("1.0.1", ""),
     "c.json:1: node id is -5, expected a whole number below 2^64"},
    {SIZED(0), SIZED(1), ET("1.0.1", NODE(5, "[1,2,0,9223372036854775807,4,\"cuda:0\"],3,9,0,\"allreduce\",[],[]")),
     ET("1.0.1", ""),
     "c.json:1: a tensor of 9223372036854775807 elements of 4 bytes: expected sizes from 0 that fit 64 bits"},
    {SIZED(0), SIZED(1), ET("1.0.1", NODE(5, "[],3,9,0,\"all_to_allv\",[-1],[]")), ET("1.0.1", ""),
     "c.json:1: node 5: split size -1 is negative"},
    {SIZED(0), SIZED(1), ET("1.0.1", REDUCE_NODE(0) "," NODE(6, "[],4,77,0,\"allreduce\",[],[]")), ET("1.0.1", ""),
     "a.json has 1 record_param_comms on thread 1/1, c.json has 2 on its thread 1: they are not of one run"},
    {RANK(0, 2, LAUNCH "," NCCL("") "," COMM("") "," COMM("")), SIZED(1),
     ET("1.0.1", REDUCE_NODE(0) "," NODE(6, "[],4,77,0,\"allreduce\",[],[]")), ET("1.0.1", REDUCE_NODE(1)),
     AT ": c.json has process groups \"77\" and \"99\", and no pg_config in the Kineto file tells their ranks"},
};

typedef struct {
    char *folder, *path[4];
} Files;

static Files
files_new(const char *const texts[4])
{
    Files files = {.folder = g_dir_make_tmp("trainshed-kineto-XXXXXX", NULL)};
    ck_assert_ptr_nonnull(files.folder);
    for (int i = 0; i < 4; i++) {
        if (texts[i] == NULL)
            continue;
        char name[] = {(char)('a' + i), '.', 'j', 's', 'o', 'n', '\0'};
        files.path[i] = g_build_filename(files.folder, name, NULL);
        ck_assert(g_file_set_contents(files.path[i], texts[i], -1, NULL));
    }
    return files;
}

static void
files_clear(Files *files)
{
    for (int i = 0; i < 4; i++) {
        if (files->path[i] != NULL)
            g_remove(files->path[i]);
        g_free(files->path[i]);
    }
    g_rmdir(files->folder);
    g_free(files->folder);
}

/* Takes the folder out of a message, which is replaced. */
static void
take_folder(const Files *files, char **message)
{
    g_autofree char *folder = g_strconcat(files->folder, "/", NULL);
    g_auto(GStrv) pieces = g_strsplit(*message, folder, -1);
    g_free(*message);
    *message = g_strjoinv("", pieces);
}

/* problems may be NULL. */
static Workload *
read_all(const char *const texts[4], GPtrArray *problems, GError **error)
{
    Files files = files_new(texts);
    TraceSource source = {.files = files.path,
                          .n_files = texts[1] != NULL ? 2 : 1,
                          .execution_files = texts[2] != NULL ? files.path + 2 : NULL,
                          .n_execution_files = texts[3] != NULL ? 2 : 1,
                          .problems = problems};
    Workload *workload = trace_kineto.read(&source, error);
    if (workload == NULL && error != NULL)
        take_folder(&files, &(*error)->message);
    for (guint i = 0; problems != NULL && i < problems->len; i++)
        take_folder(&files, (char **)&g_ptr_array_index(problems, i));
    files_clear(&files);
    return workload;
}

static Workload *
read_texts(const char *const texts[4], GError **error)
{
    return read_all(texts, NULL, error);
}

START_TEST(broken_files_are_refused_by_name_and_place)
{
    const char *const texts[4] = {refused[_i].a, refused[_i].b, refused[_i].c, refused[_i].d};
    const char *expected = refused[_i].message;
    g_autoptr(GError) error = NULL;
    g_autoptr(Workload) workload = read_texts(texts, &error);
    if (expected == NULL) { /* what is left out is known otherwise: a group of all ranks */
        ck_assert_msg(workload != NULL, "%d: %s", _i, error ? error->message : "");
        return;
    }
    ck_assert_msg(workload == NULL, "%d: not refused, expected \"%s\"", _i, expected);
    ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
    if (g_str_has_suffix(expected, "broken JSON: ")) /* what follows is yajl's */
        error->message[MIN(strlen(expected), strlen(error->message))] = '\0';
    ck_assert_msg(strcmp(error->message, expected) == 0, "%d: \"%s\", expected \"%s\"", _i, error->message, expected);
}
END_TEST

/* All that is wrong, one step at a time: events, then kernels, then what ranks do not agree in. */
#define BAD(ts) X("kernel", "k", 7, ts, 4, "")
static const struct {
    const char *a, *b, *problems[4];
} many[] = {
    {RANK(0, 2, BAD(x) "," LAUNCH "," BAD(-9e99)),
     RANK(1, 2, BAD("y") "," KERNEL),
     {"a.json:1: byte 118: broken JSON: lexical error: invalid char in json text.",
      "b.json:1: byte 60: event \"k\": ts is missing or no decimal number of microseconds in range"}},
    {RANK(0, 2, BAD("x") "," LAUNCH "," BAD(-9e99)),
     RANK(1, 2, BAD("y") "," KERNEL),
     {"a.json:1: byte 60: event \"k\": ts is missing or no decimal number of microseconds in range",
      "a.json:1: byte 255: event \"k\": ts is missing or no decimal number of microseconds in range",
      "b.json:1: byte 60: event \"k\": ts is missing or no decimal number of microseconds in range"}},
    {RANK(0, 2, LAUNCH "," NCCL(ARGS("gather", 8, 8, "Float", 2, "[0, 1]", ""))),
     RANK(1, 2,
          LAUNCH "," NCCL(ARGS("allreduce", 8, 8, "Quaternion", 2, "[0, 1]", "")) "," NCCL(
              ARGS("allreduce", 8, 8, "Float", 1, "[0]", ""))),
     {AT ": collective \"gather\" is not replayed; all-reduce, all-gather, reduce-scatter, all-to-all(v), broadcast, "
         "reduce, barrier, send and recv are",
      BT ": dtype \"Quaternion\" has no known size",
      "b.json: byte 456: NCCL kernel \"ncclKernel_AllReduce\" at ts 16.500 us: process group \"g\" does not hold rank "
      "1"}},
    {RANK(0, 2, LAUNCH "," NCCL("") "," NCCL("")),
     RANK(1, 2, LAUNCH "," NCCL("")),
     {AT " carries no collective arguments, so its bytes are not known: give the execution trace of rank 0 with it "
         "(execution_trace:)",
      BT " carries no collective arguments, so its bytes are not known: give the execution trace of rank 1 with it "
         "(execution_trace:)"}},
    {RANK(0, 2,
          LAUNCH "," NCCL(ARGS("allreduce", 9, 9, "Float", 2, "[0, 1]", "")) "," NCCL(
              ARGS("allreduce", 7, 7, "Float", 2, "[0, 1]", ""))),
     RANK(1, 2,
          LAUNCH "," NCCL(ARGS("allreduce", 8, 8, "Float", 2, "[0, 1]", "")) "," NCCL(
              ARGS("allreduce", 8, 8, "Float", 2, "[0, 1]", ""))),
     {BT " is collective 0 of group \"g\": allreduce of 32 B, on rank 0 it is allreduce of 36 B",
      "b.json: byte 451: NCCL kernel \"ncclKernel_AllReduce\" at ts 16.500 us is collective 1 of group \"g\": "
      "allreduce of 32 B, on rank 0 it is allreduce of 28 B"}},
};

START_TEST(a_check_finds_every_problem)
{
    const char *const texts[4] = {many[_i].a, many[_i].b, NULL, NULL};
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(read_all(texts, problems, &error));
    ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
    guint n = 0;
    for (; n < 4 && many[_i].problems[n] != NULL; n++) {
        ck_assert_msg(n < problems->len, "%d: %u problems", _i, problems->len);
        ck_assert_str_eq(g_ptr_array_index(problems, n), many[_i].problems[n]);
    }
    ck_assert_uint_eq(problems->len, n);
    ck_assert_str_eq(error->message, many[_i].problems[0]);
}
END_TEST

/* Real files that cannot be replayed. */
static const struct {
    const char *files[2], *message;
} real[] = {
    {{"hta-no-rank"}, "hta-no-rank.json.gz: distributedInfo names no rank, so it is not known whose trace this is"},
    {{"hta-cpuonly-w300-rank34"},
     "hta-cpuonly-w300-rank34.json.gz: no kernels, copies or fills: no device work was recorded, nothing can be "
     "replayed"},
    {{"hta-legacy-cats-rank1"},
     "hta-legacy-cats-rank1.json.gz is of a job of 2 ranks, but only 1 of their files are given; missing: 0. Waiting "
     "and "
     "transfer cannot be told apart without all of them"},
    {{"hta-nccl-ddp-w2-rank0"},
     "hta-nccl-ddp-w2-rank0.json.gz is of a job of 2 ranks, but only 1 of their files are given; missing: 1. Waiting "
     "and "
     "transfer cannot be told apart without all of them"},
    {{"tracelens-mi300x-resnet-w8-rank0"},
     "tracelens-mi300x-resnet-w8-rank0.json.gz is of a job of 8 ranks, but only 1 of their files are given; missing: "
     "1, 2, "
     "3, 4, 5, 6, 7. Waiting and transfer cannot be told apart without all of them"},
    {{"hta-sampled-w128-rank0", "hta-sampled-w128-rank1"},
     "hta-sampled-w128-rank0.json.gz is of a job of 128 ranks, but only 2 of their files are given; missing: 2, 3, 4, "
     "5, "
     "6, 7, 8, 9, .... Waiting and transfer cannot be told apart without all of them"},
    {{"param-resnet-2gpu-et"},
     "param-resnet-2gpu-et.json.gz: no traceEvents: this is no Kineto trace; an execution trace has no times, and goes "
     "beside its Kineto file (--execution-trace, execution_trace:)"},
};

START_TEST(real_files_that_cannot_be_replayed_say_why)
{
    char *files[3] = {NULL};
    uint32_t n = 0;
    for (; n < 2 && real[_i].files[n] != NULL; n++) {
        g_autofree char *relative = g_strdup_printf("data/kineto/%s.json.gz", real[_i].files[n]);
        NEED_SHARED(path, relative);
        files[n] = g_strdup(path);
    }
    g_autoptr(GError) error = NULL;
    TraceSource source = {.files = files, .n_files = n};
    ck_assert_ptr_null(trace_kineto.read(&source, &error));
    ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
    g_autofree char *folder = g_path_get_dirname(files[0]);
    ck_assert(g_str_has_prefix(error->message, folder));
    ck_assert_str_eq(error->message + strlen(folder) + 1, real[_i].message);
    g_free(files[0]);
    g_free(files[1]);
}
END_TEST

/* A gzipped copy, and the same without its last bytes. */
START_TEST(gzip_is_read_and_one_cut_short_refused)
{
    for (int cut = 0; cut <= 12; cut += 12) {
        char folder[] = "/tmp/trainshed-kineto-XXXXXX";
        ck_assert_ptr_nonnull(g_mkdtemp(folder));
        g_autofree char *path = g_build_filename(folder, "a.json.gz", NULL);
        gzFile out = gzopen(path, "wb");
        ck_assert_int_gt(gzwrite(out, PLAIN(0, 1), sizeof(PLAIN(0, 1)) - 1), 0);
        gzclose(out);
        g_autofree char *bytes = NULL;
        gsize length;
        ck_assert(g_file_get_contents(path, &bytes, &length, NULL));
        ck_assert(g_file_set_contents(path, bytes, (gssize)(length - (gsize)cut), NULL));
        char *files[] = {path, NULL};
        TraceSource source = {.files = files, .n_files = 1};
        g_autoptr(GError) error = NULL;
        g_autoptr(Workload) workload = trace_kineto.read(&source, &error);
        g_remove(path);
        g_rmdir(folder);
        if (cut == 0)
            ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
        else
            support_expect_error(&error, TRAINSHED_ERROR_INPUT, "a.json.gz: the gzip stream is cut short after");
    }
}
END_TEST

/* Two kernels whose ids differ only beyond 2^53, told apart; a byte order mark, CRLF, events before the rank, numbers
 * with exponents, ids as text: all the same. */
#define ODD_EVENTS                                                                                                     \
    X("cuda_runtime", "cudaLaunchKernel", 1, 10, 5, "\"correlation\":9007199254740993")                                \
    ",\r\n" X("cuda_runtime", "cudaLaunchKernel", 1, 20, 5,                                                            \
              "\"correlation\":9007199254740992") ",\r\n"                                                              \
                                                  "{\"args\":{\"correlation\":9007199254740992},\"dur\":1e1,\"tid\":"  \
                                                  "\"7\",\"pid\":\"0\",\"ts\":2.25e1,"                                 \
                                                  "\"cat\":\"kernel\",\"ph\":\"X\",\"name\":\"second\"},\r\n"          \
                                                  "{\"args\":{\"correlation\":9007199254740993},\"dur\":4.0005,"       \
                                                  "\"tid\":7,\"pid\":0,\"ts\":16,"                                     \
                                                  "\"cat\":\"Kernel\",\"ph\":\"X\",\"name\":\"first\"}"

START_TEST(odd_but_legal_files_are_read)
{
    static const char *const odd[4] = {
        "\xef\xbb\xbf{\"traceEvents\":[\r\n" ODD_EVENTS "],\r\n\"unknown\":[{\"a\":[1]}],"
        "\"baseTimeNanoseconds\":1700000000000000000,\"distributedInfo\":{\"rank\":0}}\r\n"};
    g_autoptr(GError) error = NULL;
    g_autoptr(Workload) workload = read_texts(odd, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->notes->len, 0);
    const Program *program = workload_program(workload, 0);
    static const struct {
        const char *name;
        int64_t ns;
    } expected[] = {/* 10 us: the first call, at the rank's start; its kernel 6 us later; ... */
                    {"cudaLaunchKernel", 0}, {"gap", 6000},     {"first", 4000}, {"cudaLaunchKernel", 10000},
                    {"gap", 2500},           {"second", 10000}, {"host", 5000}};
    ck_assert_uint_eq(program->ops->len, G_N_ELEMENTS(expected));
    for (guint i = 0; i < program->ops->len; i++) {
        ck_assert_str_eq(program_op_name(program, i), expected[i].name);
        ck_assert_int_eq(g_array_index(program->ops, Op, i).duration_ps, expected[i].ns * PS_PER_NS);
    }
}
END_TEST

static const Op *
first_of(const Workload *workload, uint32_t rank, OpKind kind)
{
    const Program *program = workload_program(workload, workload->program_of_rank[rank]);
    for (guint i = 0; i < program->ops->len; i++) {
        if (g_array_index(program->ops, Op, i).kind == kind)
            return &g_array_index(program->ops, Op, i);
    }
    ck_abort_msg("rank %u has no %s", rank, op_kind_name(kind));
    return NULL;
}

/* Long lists are cut: the members come from pg_config, or from start and stride on the record. */
START_TEST(members_of_cut_lists_are_found_elsewhere)
{
#define CUT ARGS("_allgather_base", 8, 16, "Half", 2, "[3, ...]", "")
#define FOUR(rank, events, more)                                                                                       \
    "{\"distributedInfo\":{\"rank\":" #rank ",\"world_size\":2" more "},\"traceEvents\":[" events "]}"
    static const char *const configured[4] = {
        FOUR(0, LAUNCH "," NCCL(CUT), ",\"pg_config\":[{\"pg_name\":\"g\",\"ranks\":[1,0]}]"),
        FOUR(1, LAUNCH "," NCCL(CUT), ",\"pg_config\":[{\"pg_name\":\"g\",\"ranks\":[1,0]}]")};
#define RANGE COMM("\"Global rank start\":0,\"Global rank stride\":1")
    static const char *const ranged[4] = {FOUR(0, LAUNCH "," NCCL(CUT) "," RANGE, ""),
                                          FOUR(1, LAUNCH "," NCCL(CUT) "," RANGE, "")};
    for (int k = 0; k < 2; k++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Workload) workload = read_texts(k == 0 ? configured : ranged, &error);
        ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
        uint32_t n;
        const uint32_t *members = workload_members(workload, 0, 0, &n);
        ck_assert_uint_eq(n, 2);
        ck_assert_uint_eq(members[0], k == 0 ? 1 : 0);
        const Op *op = first_of(workload, 0, OP_COLLECTIVE);
        ck_assert_int_eq(op->collective, COLLECTIVE_ALL_GATHER);
        ck_assert_uint_eq(op->bytes, 32); /* the result */
    }
}
END_TEST

START_TEST(messages_pair_and_take_the_shorter_time)
{
    static const char *const texts[4] = {
        CALLED(0, ARGS("send", 8, 8, "Float", 2, "[0, 1]", ",\"Dst Rank\":1")),
        RANK(1, 2,
             X("cuda_runtime", "cudaLaunchKernel", 1, 10, 5, "\"correlation\":1") "," X(
                 "kernel", "ncclKernel_SendRecv(y)", 20, 14.5, 6,
                 "\"correlation\":1" ARGS("recv", 8, 8, "Float", 2, "[0, 1]", ",\"Src Rank\":0")))};
    g_autoptr(GError) error = NULL;
    g_autoptr(Workload) workload = read_texts(texts, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    for (uint32_t r = 0; r < 2; r++) {
        const Op *op = first_of(workload, r, r == 0 ? OP_SEND : OP_RECV);
        ck_assert_int_eq(op->peer, (int)(1 - r));
        ck_assert_uint_eq(op->bytes, 32);
        ck_assert_int_eq(op->duration_ps, 4 * PS_PER_US);
    }
}
END_TEST

/* Before the window: no call, no arguments. The kernel keeps its 4 us at its recorded offset, 6.5 us from the start. */
START_TEST(kernels_from_before_the_window_keep_their_time)
{
    static const char *const texts[4] = {RANK(0, 1, X("cpu_op", "a", 1, 10, 20, "") "," NCCL(""))};
    g_autoptr(GError) error = NULL;
    g_autoptr(Workload) workload = read_texts(texts, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    const Program *program = workload_program(workload, 0);
    ck_assert_uint_eq(program->ops->len, 2);
    ck_assert_int_eq(g_array_index(program->ops, Op, 0).duration_ps, 6500 * PS_PER_NS);
    ck_assert_int_eq(g_array_index(program->ops, Op, 1).duration_ps, 4 * PS_PER_US);
    ck_assert_int_eq(g_array_index(program->ops, Op, 1).kind, OP_HOST);
    ck_assert_uint_eq(workload->notes->len, 2);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 0),
                     "1 of 1 kernels, copies and fills were launched before the recorded window: they start at their "
                     "recorded offset");
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 1),
                     "1 NCCL kernels were launched before the recorded window and carry no sizes: they last what was "
                     "recorded, waiting included, and move nothing");
}
END_TEST

/* 300,000 Python frames (30 MB) beside one kernel: nothing of them stays. */
START_TEST(memory_does_not_grow_with_events_that_are_not_kept)
{
    enum { FRAMES = 300000 };
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("trainshed-kineto-XXXXXX", &path, NULL);
    FILE *out = fdopen(fd, "w");
    ck_assert_ptr_nonnull(out);
    fputs("{\"distributedInfo\":{\"rank\":0},\"traceEvents\":[" LAUNCH "," KERNEL, out);
    for (int i = 0; i < FRAMES; i++)
        fprintf(
            out,
            ",\n{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f%d\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":1,"
            "\"args\":{\"Python id\":%d}}",
            i, i % 1000, i, i);
    fputs("]}", out);
    fclose(out);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    g_autoptr(GError) error = NULL;
    g_autoptr(KinetoFile) file = kineto_file_read(path, FALSE, NULL, &error);
    getrusage(RUSAGE_SELF, &after);
    g_remove(path);
    ck_assert_msg(file != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(file->n_events, FRAMES + 2);
    ck_assert_uint_eq(file->lanes->len, 2);
    ck_assert_int_le(after.ru_maxrss - before.ru_maxrss, 4096); /* KiB: the JSON reader's chunk and queue */
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("kineto-refusals");
    TCase *tc = tcase_create("refusals");
    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, broken_files_are_refused_by_name_and_place, 0, G_N_ELEMENTS(refused));
    tcase_add_loop_test(tc, a_check_finds_every_problem, 0, G_N_ELEMENTS(many));
    tcase_add_loop_test(tc, real_files_that_cannot_be_replayed_say_why, 0, G_N_ELEMENTS(real));
    tcase_add_test(tc, gzip_is_read_and_one_cut_short_refused);
    tcase_add_test(tc, odd_but_legal_files_are_read);
    tcase_add_test(tc, members_of_cut_lists_are_found_elsewhere);
    tcase_add_test(tc, messages_pair_and_take_the_shorter_time);
    tcase_add_test(tc, kernels_from_before_the_window_keep_their_time);
    tcase_add_test(tc, memory_does_not_grow_with_events_that_are_not_kept);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}

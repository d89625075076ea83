/* script.h - a program made ready to be run: its ops by stream, what waits for each, and how far a rank has come
 *
 * A Script is made once a program and shared by all ranks of the role. A Progress is one rank's state: in the stream
 * form one cursor a stream ("has ended" = the cursor of its stream is past it), in the DAG form one
 * counter an op. Both give the ops that may start, lowest index first. Knows nothing of time or of networks. */
#pragma once

#include "engine/history.h"
#include "workload/program.h"

typedef struct Script Script;

/* clocks: which op of an exclusive stream is next is not decided here where it keeps a CPU of its host busy (the clock
 * of that does), and those ops say themselves when they have begun. program is borrowed. */
Script *script_new(const Program *program, gboolean clocks);
void script_free(Script *script); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Script, script_free)

const Op *script_op(const Script *script, uint32_t op);
const char *script_op_name(const Script *script, uint32_t op);
/* "comm" of the stream an op is on, "" where it is on none. */
const char *script_stream_name(const Script *script, uint32_t op);
uint32_t script_n_ops(const Script *script);
/* The op that is number seq among the collectives of this group; INDEX_NONE where there is none. */
uint32_t script_collective(const Script *script, uint32_t group, uint32_t seq);

typedef struct Progress Progress;

Progress *progress_new(const Script *script); /* script is borrowed */
void progress_free(Progress *progress);       /* NULL is fine */

/* Back to the first op. */
void progress_begin(Progress *progress);
/* Takes an op that may start now and counts it as started; INDEX_NONE where none may. */
uint32_t progress_next(Progress *progress);
/* In the DAG form, of a script with clocks: a started op that keeps a CPU busy has begun; what waits for its end may
 * start, although it ends later. */
void progress_begun(Progress *progress, uint32_t op);
void progress_let_go(Progress *progress, uint32_t op);
/* Does this op tell so? */
gboolean script_has_clock(const Script *script, uint32_t op);
/* The ops this one waits for, those whose end it needs first. */
const uint32_t *script_deps(const Script *script, uint32_t op);
/* A started op has ended. */
void progress_end(Progress *progress, uint32_t op);
/* Have all ops ended? */
gboolean progress_done(const Progress *progress);
/* Adds how far it is to a fingerprint. */
void progress_fingerprint(const Progress *progress, Fingerprint *print);

/* model.h - what a model is, and what one of its layers costs a rank
 *
 * A ModelDescription says what the model is: a transformer (dense, or with a mixture of experts), a DLRM, or a table of
 * layers for everything else. It knows nothing of GPUs and groups. model_block() says what one block of one layer costs
 * one rank under a ModelShard: its GEMMs, the other operations and bytes moved, parameters, what is kept for the
 * backward pass, what goes to whom. A model is a row of layers (the embedding first, the head last), which pipeline
 * stages are cut from; a layer is a few blocks, after each of which the ranks of a tensor-parallel group meet.
 *
 * Activation bytes: Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models", section 4
 * and table 2, taken apart so that grouped heads, gated FFNs and fused attention have theirs. FLOPs count a
 * multiplication and an addition as two. */
#pragma once

#include "base/sim_time.h"

#include <glib.h>

typedef enum { MODEL_TRANSFORMER, MODEL_DLRM, MODEL_LAYERS } ModelKind;

/* Numbers are counts unless they say more. 0 = absent. */
typedef struct {
    uint32_t layers, hidden, heads, kv_heads, head_dim, ffn, vocabulary, sequence;
    gboolean gated;     /* FFN of three matrices (SwiGLU); else two */
    gboolean rms;       /* norms have one vector (RMSNorm); else two */
    gboolean bias;      /* linear layers have one */
    gboolean tied;      /* the head's matrix is the embedding's */
    gboolean learned;   /* positions are parameters (sequence of them) */
    gboolean causal;    /* a token sees those before it: fused attention skips half */
    gboolean dropout;   /* masks are kept */
    gboolean pooler;    /* hidden x hidden and its bias behind the last layer (BERT) */
    uint32_t segments;  /* embeddings of token types (BERT) */
    uint32_t positions; /* rows of learned positions, 0 = sequence */
    /* Multi-head latent attention (DeepSeek-V2, 2024, section 2.1); kv_lora 0 = ordinary attention. */
    uint32_t q_lora, kv_lora, rope_dim, value_dim; /* head_dim is then that without rope_dim; q_lora 0 = none */
    /* Mixture of experts; experts 0 = dense. */
    uint32_t experts, top_k, shared, expert_ffn; /* shared experts have expert_ffn each */
    uint32_t dense_first;                        /* so many first layers are dense (ffn) */
    uint32_t moe_every;                          /* of the others, every so-manieth is a mixture; 0 = all */
    gboolean router_bias;                        /* one number an expert */
    double capacity; /* a rank sends at most so many times the even share to an expert; 0 = nothing is dropped */
    double skew;     /* of the load: expert e is asked for in proportion to (e + 1)^-skew; 0 = even */
} Transformer;

/* Naumov et al. 2019, arXiv 1906.00091. All tables are alike. */
typedef struct {
    uint32_t tables, rows, width;                                /* rows a table, values a row */
    double pooling;                                              /* rows a table that a sample asks for */
    uint32_t table_value_B;                                      /* bytes of a value in a table, and on its way */
    uint32_t bottom_layers, bottom_width, top_layers, top_width; /* square MLPs */
} Dlrm;

/* A row of a table of layers: what one sample costs. */
typedef struct {
    char *name;
    uint64_t m, n, k;                            /* its GEMM a sample (m rows a sample); 0 = none */
    double forward_flops, backward_flops;        /* where there is no GEMM */
    double forward_bytes, backward_bytes;        /* read and written, GEMM apart */
    SimTime forward_ps, backward_ps;             /* recorded, of a micro-batch of the recorded size; -1 = none */
    uint64_t parameters, activation_B, output_B; /* output_B goes to the next layer */
} ModelRow;

typedef enum {
    BLOCK_EMBEDDING, /* token embedding */
    BLOCK_ATTENTION, /* norm, attention, residual */
    BLOCK_MLP,       /* norm, FFN, residual */
    BLOCK_EXPERTS,   /* norm, router, shared experts, routed experts, residual */
    BLOCK_HEAD,      /* last norm, logits, loss */
    BLOCK_TABLES,    /* embedding tables of a DLRM */
    BLOCK_BOTTOM,    /* a layer of its bottom MLP */
    BLOCK_TOP,       /* of its top MLP */
    BLOCK_ROW,       /* of a table of layers */
    BLOCK_KINDS
} BlockKind;
const char *block_kind_name(BlockKind kind); /* "attention" */

/* Passes: the backward one in two where the weight gradient can wait (zero-bubble schedules). */
typedef enum { PASS_OF_FORWARD, PASS_OF_INPUT, PASS_OF_WEIGHT, MODEL_PASSES } ModelPass;

typedef struct {
    char *name;
    char *source; /* of the numbers: one line; NULL = the user's */
    ModelKind kind;
    Transformer transformer;
    Dlrm dlrm;
    gboolean rows_whole;         /* rows are of a micro-batch, not of a sample */
    GArray *rows;                /* of ModelRow; NULL unless MODEL_LAYERS */
    double published_parameters; /* as the source prints it; 0 = not known */
    /* Recorded times of a rank's micro-batch by kind of block; 0 = not given: by FLOPs and bytes. */
    SimTime block_ps[BLOCK_KINDS][MODEL_PASSES];
    uint32_t value_B, gradient_B; /* bytes of an activation or weight, of a gradient: 2 and 2 unless said */
} ModelDescription;

ModelDescription *model_new(const char *name, ModelKind kind);
void model_free(ModelDescription *model); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ModelDescription, model_free)

/* A preset of model_presets.c; NULL with an INPUT error that names the nearest. The caller frees it. */
ModelDescription *model_preset(const char *name, GError **error);
/* Names of all presets, in the order of the table; NULL-terminated. */
const char *const *model_preset_names(void);

/* Fills what follows from the rest (kv_heads = heads, head_dim = hidden / heads, ...) and refuses what cannot be. */
gboolean model_settle(ModelDescription *model, GError **error);

/* All parameters; those a token (a sample) passes through (top_k of the experts). Exact counts. */
uint64_t model_parameters(const ModelDescription *model);
uint64_t model_active_parameters(const ModelDescription *model);

/* ---- what a rank has of it ---- */

typedef enum { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL, RECOMPUTES } Recompute;
extern const char *const recompute_names[]; /* none, selective, full, NULL */

/* How a layer is cut. All 1 and a micro-batch of 1 is the whole layer on one rank. */
typedef struct {
    uint32_t micro_batch;   /* sequences, or samples */
    uint32_t sequence;      /* tokens; 0 = the model's */
    uint32_t tp, cp, ep;    /* ranks that share it; ep shares experts (and the tables of a DLRM) alone */
    uint32_t ep_member;     /* which share of the experts, where their load is uneven */
    gboolean experts_whole; /* a rank has its experts whole, not cut over tp, and ep counts ranks of tp too */
    gboolean sequence_parallel;
    gboolean fused_attention; /* scores are not written to memory (FlashAttention) */
    Recompute recompute;
} ModelShard;

ModelShard model_shard_default(void); /* all 1, sequence 0, unfused, none */

/* batch products of m x k by k x n. */
typedef struct {
    const char *name;
    uint64_t m, n, k, batch;
    double share;    /* of it that is computed: 0.5 under a causal mask where a fused kernel skips the other half */
    double bytes;    /* read and written */
    gboolean weight; /* k x n are parameters; else both factors are activations */
    gboolean core;   /* attention scores and their product with the values: what selective recomputation does again */
} Gemm;
double gemm_flops(const Gemm *gemm); /* 2 m n k batch share */

enum { MODEL_GEMMS = 16 };

/* One block on one rank, for one micro-batch. */
typedef struct {
    BlockKind kind;
    uint32_t layer;          /* of the model: 0 = embedding */
    const char *name;        /* borrowed from the model or static */
    Gemm gemms[MODEL_GEMMS]; /* of the forward pass */
    uint32_t n_gemms;
    double other_flops, other_bytes; /* element-wise work of the forward pass; backward: twice (bytes and FLOPs) */
    double core_bytes;               /* of other_bytes: softmax and mask, done again under selective recomputation */
    double row_backward_flops, row_backward_bytes; /* of BLOCK_ROW: its own; -1 = as the forward pass tells */
    SimTime forward_ps, backward_ps;               /* recorded; -1 = by FLOPs and bytes */
    double part;             /* of its weight gradients' work that is here: 1, or what train_blocks.c takes apart */
    double row_weight_share; /* of BLOCK_ROW's backward work: what the weight gradient does; 0 unless a schedule splits
                                it */
    double fused_backward;   /* FLOPs of core GEMMs backward / forward: 2, or 2.5 where the kernel makes scores again */
    /* Parameters on this rank. */
    uint64_t shared_parameters;     /* cut over tp */
    uint64_t replicated_parameters; /* whole on every rank of tp */
    uint64_t expert_parameters;     /* cut over ep (and tp, unless experts_whole) */
    uint64_t tied_parameters;       /* a copy of the embedding where the head lives on another stage; cut over tp */
    /* Bytes. */
    uint64_t kept_B;     /* for the backward pass, under the shard's recomputation */
    uint64_t whole_B;    /* the same without recomputation: what is alive while it runs backward */
    uint64_t output_B;   /* to the next layer, of this rank (cut over cp, and over tp with sequence parallelism) */
    uint64_t reduced_B;  /* S of the all-reduce over tp behind the forward pass (with sequence parallelism: of the
                            all-gather before it and the reduce-scatter behind it); 0 = none */
    uint64_t context_B;  /* keys and values of this rank that the others of cp want; 0 = none */
    uint64_t query_B;    /* queries of this rank, and as much of what attention gives; 0 where context_B is */
    uint64_t routed_B;   /* what this rank sends to all of ep (itself too) to be worked on there; 0 = none */
    uint64_t received_B; /* what it gets of them, works on and sends back; both the same again in the backward pass */
    uint64_t gathered_B; /* S of the all-gather over tp of what was received, and of the reduce-scatter of what comes
                            of it (experts under sequence parallelism); 0 = none */
} ModelBlock;

/* Layers, embedding and head among them; the name of one. */
uint32_t model_n_layers(const ModelDescription *model);
/* Blocks of a layer, 1 or 2. */
uint32_t model_n_blocks(const ModelDescription *model, uint32_t layer);
/* Fills *block. The shard must divide the model (model_check_shard). */
void model_block(const ModelDescription *model, uint32_t layer, uint32_t index, const ModelShard *shard,
                 ModelBlock *block);
/* FALSE with an INPUT error where tp does not divide the heads and so on, with the numbers. */
gboolean model_check_shard(const ModelDescription *model, const ModelShard *shard, GError **error);

/* Bytes to each of the shard's ep ranks, from any: routed_B in ep pieces, by whose experts are asked for. */
void model_routed_splits(const ModelDescription *model, const ModelShard *shard, uint64_t *bytes);

/* The GEMMs of a pass, recomputation first where the pass of the input gradient begins with it: at most
 * 3 x MODEL_GEMMS in out; how many. The gradients of a weight GEMM m n k are m k n (input) and k n m (weight). */
uint32_t block_gemms(const ModelBlock *block, ModelPass pass, Recompute recompute, Gemm *out);
/* What is not GEMMs in a pass: element-wise FLOPs and bytes. */
void block_other(const ModelBlock *block, ModelPass pass, Recompute recompute, double *flops, double *bytes);
/* Sums over both. */
double block_flops(const ModelBlock *block, ModelPass pass, Recompute recompute);
double block_bytes(const ModelBlock *block, ModelPass pass, Recompute recompute);
uint64_t block_parameters(const ModelBlock *block); /* on this rank, a tied copy not counted */

/* recovery.h - how lost packets are sent again: shared by all transports
 *
 * go_back_n: the receiver keeps only the packet it expects, and asks once for that one when another comes; the sender
 * goes back to it. selective_repeat: the receiver keeps what comes; the sender sends a packet again when one sent
 * `reorder` packets later was acknowledged, or its header came without payload. reorder_tolerant: as that, but only
 * lost headers and the timeout tell of a loss, so that no order of arrival means anything (for spraying). In each, the
 * sender starts again with all that is not acknowledged when `timeout` has passed without a sign of progress, and waits
 * twice as long each time (at most 64 x). */
#pragma once

#include "base/sim_time.h"

typedef enum { RECOVERY_GO_BACK_N, RECOVERY_SELECTIVE_REPEAT, RECOVERY_REORDER_TOLERANT } RecoveryKind;

typedef struct {
    RecoveryKind kind;
    uint32_t reorder;   /* packets; 3 (the duplicate ACKs of RFC 5681) */
    SimTime timeout_ps; /* 0 = by itself: lossless 67.1 ms (the common ACK timeout of RoCE NICs, 4.096 us x 2^14); lossy
                           1 ms + 4 round trips */
} RecoveryConfig;

/* "go_back_n", "selective_repeat", "reorder_tolerant", NULL. */
const char *const *recovery_names(void);

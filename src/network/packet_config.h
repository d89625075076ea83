/* packet_config.h - what the packet model needs to know of switches, NICs and the transport
 *
 * Link attributes of the fabric (buffer_B, ecn_kmin_B, ecn_kmax_B, ecn_pmax, loss) come before what stands here. */
#pragma once

#include "base/sim_time.h"

/* A parameter of a transport, as text with its unit. */
typedef struct {
    const char *key, *text;
} TransportSetting;

/* Data of this job goes in this class. */
typedef struct {
    const char *job;
    uint32_t class;
} PacketClass;

/* Classes of traffic: 0 .. PACKET_CLASSES - 2 for data, a higher one goes first; the last is for control. */
enum { PACKET_CLASSES = 8, PACKET_CONTROL_CLASS = PACKET_CLASSES - 1 };

#define PACKET_NO_LIMIT UINT64_MAX

typedef struct {
    /* Payload of a full packet. 4096: the largest path MTU of InfiniBand and RoCE (IBTA specification 1.4, 9.2.8). */
    uint32_t mtu_B;
    /* On the wire beside the payload. 64: Ethernet 18, IPv4 20, UDP 8, BTH 12, ICRC 4 = 62, rounded up. */
    uint32_t header_B;
    /* A control packet, whole. 64: the least Ethernet frame (IEEE 802.3, 4A.4.2). */
    uint32_t ack_B;
    /* A packet goes on when its header has arrived, where the next link is not faster; else when all of it has. */
    gboolean cut_through;
    /* Waiting bytes that an output port holds; PACKET_NO_LIMIT by default: what a real one holds differs by a hundred.
     */
    uint64_t buffer_B;
    /* Of a whole switch, instead of buffer_B; 0 = none. A port then holds at most alpha x what is free of it
     * (Choudhury, Hahne, "Dynamic queue length thresholds", 1998). alpha 1: their recommendation for few hot ports. */
    uint64_t shared_buffer_B;
    double alpha;
    /* A packet that meets more than kmin waiting bytes is marked with a probability that grows to pmax at kmax, and
     * always above. kmax 0 = never; where the transport asks for marks and none are set: kmin = 1 us, kmax = 40 us of
     * the link's rate (Zhu et al., "DCQCN", 2015, 4: 5 kB and 200 kB at 40 Gb/s), pmax 0.2 (Li et al., "HPCC", 2019,
     * 5.1), not their 0.01, with which 16 flows of 100 Gb/s swing together and idle the link. */
    uint64_t ecn_kmin_B, ecn_kmax_B;
    double ecn_pmax;
    /* Priority flow control (IEEE 802.1Qbb): a switch pauses a class of a link into it while it holds more than xoff
     * bytes of it, until it holds no more than xon. With a shared buffer xoff is at most alpha x what is free of it.
     * Above xoff come headroom bytes; beyond those packets are lost. headroom PACKET_NO_LIMIT = never. response: from
     * the arrival of a pause frame until the port heeds it. */
    gboolean pfc;
    uint64_t pfc_xoff_B, pfc_xon_B, pfc_headroom_B;
    SimTime pfc_response_ps;
    /* A packet for which there is no room loses its payload; its header goes on in the control class (Handley et al.,
     * "NDP", 2017). Set too where the transport asks for it; there is then room for 72 kB, 8 packets at least, where
     * none is given (same place, 3.1: 8 packets of 9 kB), and for 1 MiB of headers more. */
    gboolean trim;
    /* ACKs and the like go before data; else in the class of their flow. */
    gboolean control_first;
    /* From the change of a link until flows take other ways. 1 ms: local repair in a fabric's routing. */
    SimTime reroute_delay_ps;
    const char *transport; /* "window" */
    const TransportSetting *settings;
    uint32_t n_settings;
    const PacketClass *classes; /* of the jobs named; others have class 0 */
    uint32_t n_classes;
} PacketConfig;

PacketConfig packet_config_default(void);
/* Do its numbers fit each other? FALSE with an INPUT error. The transport is checked apart (transport.h). */
gboolean packet_config_check(const PacketConfig *config, GError **error);

/* ns3.cc - ns-3's side of bench/peers/ns3.sh: the flows that bench/peers/packet wrote down, as UDP
 *
 *   ns3 PLAN
 *
 * Point-to-point links, one IPv4 stack a node, one static host route a flow and node, so that look-ups are short; no
 * queueing disciplines above the devices, whose own queues are long enough that nothing is lost; no traces. A host
 * sends a packet each time the last has been serialised. Packet-hops are packets received times links of their path,
 * which is exact because none is lost (checked). One JSON line as of bench/peers/packet. */
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

const uint32_t UDP_IP_B = 28, PPP_B = 2;
const uint16_t PORT = 9;

struct Plan {
    uint32_t n_nodes, n_cables, n_hosts, mtu;
    uint64_t bytes;
    double rate_Bps, latency_s;
    std::vector<std::pair<uint32_t, uint32_t>> cables;
    std::vector<std::vector<uint32_t>> paths; /* nodes, by flow */
};

double
cpu_s()
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

bool
read_plan(const char *path, Plan &plan)
{
    std::ifstream file(path);
    file >> plan.n_nodes >> plan.n_cables >> plan.n_hosts >> plan.bytes >> plan.mtu >> plan.rate_Bps >> plan.latency_s;
    for (uint32_t i = 0, a = 0, b = 0; i < plan.n_cables && file >> a >> b; i++)
        plan.cables.emplace_back(a, b);
    for (uint32_t i = 0, n = 0; i < plan.n_hosts && file >> n; i++) {
        plan.paths.emplace_back(n);
        for (uint32_t &node : plan.paths.back())
            file >> node;
    }
    return bool(file);
}

/* Of a node: all its interfaces have it. */
Ipv4Address
address_of(uint32_t node)
{
    return Ipv4Address(0x0a000001 + node);
}

/* The interface's number. A mask of 32 bits: no route to a subnet comes before those of the flows. */
uint32_t
add_interface(Ptr<NetDevice> device, uint32_t node)
{
    Ptr<Ipv4> ipv4 = device->GetNode()->GetObject<Ipv4>();
    uint32_t interface = ipv4->AddInterface(device);
    ipv4->AddAddress(interface, Ipv4InterfaceAddress(address_of(node), Ipv4Mask::GetOnes()));
    ipv4->SetUp(interface);
    return interface;
}

void
build(const Plan &plan, NodeContainer &nodes)
{
    nodes.Create(plan.n_nodes);
    InternetStackHelper stack;
    Ipv4StaticRoutingHelper routing;
    stack.SetRoutingHelper(routing);
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(plan.rate_Bps * 8))));
    link.SetDeviceAttribute("Mtu", UintegerValue(plan.mtu + UDP_IP_B));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(plan.latency_s)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100000000p"));
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> interfaces; /* from, to */
    for (auto [a, b] : plan.cables) {
        NetDeviceContainer devices = link.Install(nodes.Get(a), nodes.Get(b));
        interfaces[{a, b}] = add_interface(devices.Get(0), a);
        interfaces[{b, a}] = add_interface(devices.Get(1), b);
    }
    for (const auto &path : plan.paths)
        for (size_t i = 0; i + 1 < path.size(); i++)
            routing.GetStaticRouting(nodes.Get(path[i])->GetObject<Ipv4>())
                ->AddHostRouteTo(address_of(path.back()), address_of(path[i + 1]), interfaces[{path[i], path[i + 1]}]);
}

} // namespace

int
main(int argc, char **argv)
{
    Plan plan;
    if (argc < 2 || !read_plan(argv[1], plan)) {
        std::fprintf(stderr, "usage: ns3 PLAN, as bench/peers/packet writes it\n");
        return 2;
    }
    Time::SetResolution(Time::PS);
    NodeContainer nodes;
    build(plan, nodes);
    uint64_t n_packets = plan.bytes / plan.mtu;
    double packet_s = double(plan.mtu + UDP_IP_B + PPP_B) / plan.rate_Bps;
    std::vector<Ptr<UdpServer>> servers;
    for (const auto &path : plan.paths) {
        UdpServerHelper server(PORT);
        ApplicationContainer receiver = server.Install(nodes.Get(path.back()));
        receiver.Start(Seconds(0));
        servers.push_back(server.GetServer());
        UdpClientHelper client(address_of(path.back()), PORT);
        client.SetAttribute("MaxPackets", UintegerValue(n_packets));
        client.SetAttribute("Interval", TimeValue(Seconds(packet_s)));
        client.SetAttribute("PacketSize", UintegerValue(plan.mtu));
        client.Install(nodes.Get(path.front())).Start(Seconds(0));
    }
    double begin_s = cpu_s();
    Simulator::Run();
    double end_s = cpu_s();
    uint64_t hops = 0, received = 0;
    for (size_t i = 0; i < servers.size(); i++) {
        received += servers[i]->GetReceived();
        hops += servers[i]->GetReceived() * (plan.paths[i].size() - 1);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "{\"bench\": \"peers/packet\", \"side\": \"ns-3\", \"hosts\": %u, \"bytes\": %llu, \"data_hops\": %llu, "
        "\"control_hops\": 0, \"dropped\": %llu, \"cpu_s\": %.6f, \"simulated_us\": %.3f, \"peak_MiB\": %ld}\n",
        plan.n_hosts, static_cast<unsigned long long>(plan.bytes), static_cast<unsigned long long>(hops),
        static_cast<unsigned long long>(n_packets * plan.n_hosts - received), end_s - begin_s,
        Simulator::Now().GetSeconds() * 1e6, usage.ru_maxrss / 1024);
    Simulator::Destroy();
    return received == n_packets * plan.n_hosts ? 0 : 1;
}

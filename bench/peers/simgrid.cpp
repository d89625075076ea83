/* simgrid.cpp - SimGrid's side of bench/peers/simgrid.sh: the work that bench/peers/fluid wrote down
 *
 *   simgrid PLAN [--cfg=network/optim:Full]
 *
 * The mailbox form: an actor a host, each the permanent receiver of its host's mailbox, so that a put starts at once
 * and needs no get. Routes are given explicitly, link by link as in the plan, in a zone that looks them up in an
 * array. SimGrid weighs flows by the inverse of their paths' latencies, and so does bench/peers/fluid. All factors of
 * TCP are off: what is solved is the max-min problem of our fluid model. One JSON line as of bench/peers/fluid. */
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace sg = simgrid::s4u;

namespace
{

struct Work {
    unsigned src, dst;
    uint64_t bytes;
    int next; /* the transfer that follows when this has arrived, or -1 */
};

struct Plan {
    std::string name;
    unsigned n_hosts, n_links; /* of the tree */
    double rate, latency;
    unsigned n_actors, n_first, n_ends;
    bool warm; /* CPU time counts from the first completion */
    std::vector<Work> works;
};

Plan plan;
std::vector<sg::Mailbox *> boxes;               /* by host */
std::vector<std::vector<unsigned>> first_works; /* by host */
unsigned ended;
double begin_s;
char payload;

double
cpu_s()
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Ends the process: nothing after the measured part is wanted. */
[[noreturn]] void
report()
{
    double end_s = cpu_s();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf("{\"bench\": \"peers/fluid\", \"side\": \"simgrid\", \"completions\": %u, \"cpu_s\": %.6f, "
                "\"simulated_us\": %.6f, \"peak_MiB\": %ld}\n",
                plan.n_ends, end_s - begin_s, sg::Engine::get_clock() * 1e6, usage.ru_maxrss / 1024);
    std::fflush(stdout);
    std::_Exit(0);
}

void
count_end()
{
    if (plan.warm && ended == 0)
        begin_s = cpu_s();
    if (++ended == plan.n_ends + (plan.warm ? 1 : 0))
        report();
}

sg::CommPtr
put(const Work &work)
{
    return boxes[work.dst]->put_async(&payload, work.bytes);
}

/* The chains of transfers that start at one host. */
void
sender(unsigned host)
{
    std::vector<sg::CommPtr> comms;
    std::vector<int> numbers;
    for (unsigned number : first_works[host]) {
        comms.push_back(put(plan.works[number]));
        numbers.push_back(int(number));
    }
    while (!comms.empty()) {
        size_t i = size_t(sg::Comm::wait_any(comms));
        count_end();
        numbers[i] = plan.works[size_t(numbers[i])].next;
        if (numbers[i] >= 0) {
            comms[i] = put(plan.works[size_t(numbers[i])]);
        } else {
            comms[i] = comms.back();
            numbers[i] = numbers.back();
            comms.pop_back();
            numbers.pop_back();
        }
    }
}

/* All at once, then all awaited in order: cheaper than whichever comes next. */
void
sender_at_once(unsigned host)
{
    std::vector<sg::CommPtr> comms;
    for (unsigned number : first_works[host])
        comms.push_back(put(plan.works[number]));
    for (auto &comm : comms) {
        comm->wait();
        count_end();
    }
}

/* A ring: to the right as often as something has come from the left. */
void
ring(unsigned host)
{
    const Work &work = plan.works[host];
    std::array<sg::CommPtr, 8> sent; /* the last of them, long ended when their turn comes again */
    for (unsigned step = 0; step < plan.n_ends / plan.n_actors; step++) {
        auto &oldest = sent[step % sent.size()];
        if (oldest)
            oldest->wait();
        oldest = put(work);
        boxes[host]->get<char>();
        count_end();
    }
    for (auto &comm : sent)
        if (comm)
            comm->wait();
}

void
read_plan(const char *path, sg::NetZone *zone)
{
    std::ifstream file(path);
    size_t n_works = 0;
    file >> plan.name >> plan.n_hosts >> plan.n_links >> plan.rate >> plan.latency;
    file >> plan.n_actors >> plan.n_first >> plan.n_ends >> n_works;
    plan.warm = plan.name == "random";
    std::vector<sg::Host *> hosts;
    std::vector<const sg::Link *> links;
    for (unsigned i = 0; i < plan.n_hosts; i++) {
        hosts.push_back(zone->create_host("h" + std::to_string(i), 1e9));
        boxes.push_back(sg::Mailbox::by_name("m" + std::to_string(i)));
    }
    for (unsigned i = 0; i < plan.n_links; i++)
        links.push_back(zone->create_link("l" + std::to_string(i), plan.rate)->set_latency(plan.latency)->seal());
    std::vector<bool> routed(size_t(plan.n_hosts) * plan.n_hosts);
    for (size_t i = 0; i < n_works; i++) {
        Work work;
        unsigned n_hops = 0;
        file >> work.src >> work.dst >> work.bytes >> work.next >> n_hops;
        std::vector<sg::LinkInRoute> route;
        for (unsigned h = 0, link = 0; h < n_hops && file >> link; h++)
            route.emplace_back(links.at(link));
        if (!file)
            throw std::runtime_error(std::string(path) + ": cannot be read as a plan");
        plan.works.push_back(work);
        size_t pair = size_t(work.src) * plan.n_hosts + work.dst;
        if (!routed[pair])
            zone->add_route(hosts[work.src]->get_netpoint(), hosts[work.dst]->get_netpoint(), nullptr, nullptr, route,
                            false);
        routed[pair] = true;
    }
    zone->seal();
    first_works.resize(plan.n_hosts);
    for (unsigned i = 0; i < plan.n_first; i++)
        first_works[plan.works[i].src].push_back(i);
    for (unsigned i = 0; i < plan.n_hosts; i++) {
        void (*body)(unsigned) = plan.name == "ring" || plan.name == "all-gather" ? ring
                                 : plan.name == "random"                          ? sender
                                                                                  : sender_at_once;
        if (i < plan.n_actors)
            boxes[i]->set_receiver(sg::Actor::create("a" + std::to_string(i), hosts[i], body, i));
    }
}

} // namespace

int
main(int argc, char **argv)
{
    sg::Engine engine(&argc, argv);
    engine.set_config("network/model:CM02"); /* no factors on bandwidth or latency */
    engine.set_config("network/bandwidth-factor:1");
    engine.set_config("network/latency-factor:1");
    engine.set_config("network/weight-S:0");
    engine.set_config("network/TCP-gamma:0");
    engine.set_config("network/crosstraffic:0");
    engine.set_config("contexts/factory:raw");
    engine.set_config("contexts/stack-size:32");
    if (argc < 2) {
        std::fprintf(stderr, "usage: simgrid PLAN\n");
        return 2;
    }
    read_plan(argv[1], sg::create_full_zone("tree"));
    begin_s = cpu_s();
    engine.run();
    std::fprintf(stderr, "simgrid: ended after %u of %u completions\n", ended, plan.n_ends);
    return 1;
}

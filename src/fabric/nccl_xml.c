/* nccl_xml.c - topology files of NCCL and RCCL: the inside of a server
 *
 * <system><cpu><pci ...> nested as the PCIe tree; a pci is a switch, GPU or NIC by its class, or by the <gpu> or <nic>
 * in it; <nvlink> or <xgmi> in a <gpu> name the bus id at the other end. A CPU is where the PCIe of its NUMA node
 * meets: a node of kind pcie. GPUs and NICs are numbered by dev, where the file has none in its order. Switches may
 * share a bus id (real dumps do). Rates of PCIe are from link_speed and link_width; those of NVLink, xGMI and between
 * CPUs by generation, from nccl_rates.h
 * ("table"); a net's speed is that of a NIC without PCIe. There are no latencies. NVLinks
 * that a file lacks may come from a companion, the matrix of nvidia-smi topo -m. Several host_hash are several
 * servers. */
#include "base/error.h"
#include "base/xml_head.h"
#include "base/xml_tree.h"
#include "fabric/nccl_rates.h"
#include "fabric/topology_format.h"

#include <string.h>

#define FILE_LIMIT ((size_t)64 << 20)

typedef enum { GPU, NIC, NVSWITCH, CPU, BRIDGE, SORTS } Sort;

typedef struct {
    Sort sort;
    const XmlElement *element; /* NULL for an NVSwitch */
    uint32_t parent;           /* a part; INDEX_NONE of a CPU */
    uint32_t server;
    int64_t dev;       /* of a GPU or NIC; G_MAXINT32 = not said */
    double rate_Bps;   /* to the parent; 0 = not known */
    const char *busid; /* "" = none */
    uint32_t node;     /* of the fabric */
} Part;

/* What the lines of one part say about the way to another. */
typedef struct {
    uint32_t from, to;
    double rate_Bps;
    const char *source; /* of the rate */
    LinkKind kind;
} Way;

typedef struct {
    const char *path;
    const TopologyOptions *options;
    const XmlTree *tree;
    GArray *parts;       /* of Part */
    GArray *ways;        /* of Way */
    GHashTable *by_bus;  /* lower case -> part + 1 */
    GHashTable *servers; /* host_hash -> number + 1 */
    uint32_t counts[SORTS], n_to_itself, n_widths, n_defaults, n_shared;
    size_t without_rate; /* line of the first pci without; 0 = none */
    Fabric *fabric;
} Reader;

static gboolean
problem(const Reader *reader, const XmlElement *element, GError **error, const char *text)
{
    return topology_problem(reader->options, reader->path, element->line, error, "%s: %s", element->name, text);
}

static Part *
part_at(const Reader *reader, uint32_t part)
{
    return &g_array_index(reader->parts, Part, part);
}

static const char *
attribute(const XmlElement *element, const char *name)
{
    const char *value = xml_attribute(element, name);
    return value != NULL ? value : "";
}

static uint32_t
add_part(Reader *reader, Part part)
{
    part.node = INDEX_NONE;
    reader->counts[part.sort]++;
    g_array_append_val(reader->parts, part);
    return reader->parts->len - 1;
}

/* The NVSwitch of a server; made where it is first needed. */
static uint32_t
nvswitch_of(Reader *reader, uint32_t server)
{
    for (uint32_t i = 0; i < reader->parts->len; i++)
        if (part_at(reader, i)->sort == NVSWITCH && part_at(reader, i)->server == server)
            return i;
    return add_part(reader, (Part){.sort = NVSWITCH, .parent = INDEX_NONE, .server = server, .busid = ""});
}

/* What a pci is; SORTS where nothing tells. */
static Sort
sort_of(const XmlElement *pci)
{
    const char *class = attribute(pci, "class");
    if (xml_child(pci, "gpu") != NULL)
        return GPU;
    if (xml_child(pci, "nic") != NULL)
        return NIC;
    if (class[0] == '\0')
        return SORTS;
    if (g_str_has_prefix(class, "0x03") || g_str_has_prefix(class, "0x12"))
        return GPU;
    return g_str_has_prefix(class, "0x02") ? NIC : BRIDGE;
}

/* dev of the <gpu> or the first <net>. */
static int64_t
dev_of(const XmlElement *element)
{
    const XmlElement *gpu = xml_child(element, "gpu"), *nic = xml_child(element, "nic");
    const XmlElement *net = strcmp(element->name, "net") == 0 ? element : nic != NULL ? xml_child(nic, "net") : NULL;
    const char *text = gpu != NULL ? attribute(gpu, "dev") : net != NULL ? attribute(net, "dev") : "";
    gint64 dev;
    return g_ascii_string_to_signed(text, 10, 0, G_MAXINT32 - 1, &dev, NULL) ? dev : G_MAXINT32;
}

static gboolean
add_pci(Reader *reader, const XmlElement *pci, uint32_t parent, uint32_t *part, GError **error)
{
    const char *busid = attribute(pci, "busid");
    Sort sort = sort_of(pci);
    *part = INDEX_NONE;
    if (busid[0] == '\0')
        return problem(reader, pci, error, "needs the attribute busid");
    if (sort == SORTS)
        return problem(reader, pci, error, "needs the attribute class, a gpu or a nic: nothing tells what it is");
    g_autofree char *key = g_ascii_strdown(busid, -1);
    gboolean is_taken = g_hash_table_contains(reader->by_bus, key);
    if (is_taken && sort != BRIDGE)
        return topology_problem(reader->options, reader->path, pci->line, error, "pci: busid \"%s\" is there already",
                                busid);
    const char *lanes = attribute(pci, "link_width");
    guint64 width = 0;
    if (lanes[0] != '\0' && !g_ascii_string_to_unsigned(lanes, 10, 0, 1024, &width, NULL))
        return problem(reader, pci, error, "link_width is no number of lanes");
    double rate_Bps = nccl_pcie_Bps(attribute(pci, "link_speed"), width > 0 ? (unsigned)width : 16);
    reader->n_widths += width == 0 && rate_Bps > 0;
    if (rate_Bps == 0 && reader->n_defaults++ == 0)
        reader->without_rate = pci->line;
    *part = add_part(reader, (Part){.sort = sort,
                                    .element = pci,
                                    .parent = parent,
                                    .server = part_at(reader, parent)->server,
                                    .dev = dev_of(pci),
                                    .rate_Bps = rate_Bps,
                                    .busid = busid});
    reader->n_shared += is_taken;
    if (!is_taken)
        g_hash_table_insert(reader->by_bus, g_steal_pointer(&key), GUINT_TO_POINTER(*part + 1));
    return TRUE;
}

/* NICs that hang on a CPU without a PCIe of their own. */
static void
add_virtual(Reader *reader, const XmlElement *nic, uint32_t cpu)
{
    for (const XmlElement *net = xml_child(nic, "net"); net != NULL; net = xml_next(net)) {
        gint64 speed_Mbps = 0;
        if (!g_ascii_string_to_signed(attribute(net, "speed"), 10, 1, G_MAXINT32, &speed_Mbps, NULL) &&
            reader->n_defaults++ == 0)
            reader->without_rate = net->line;
        add_part(reader, (Part){.sort = NIC,
                                .element = net,
                                .parent = cpu,
                                .server = part_at(reader, cpu)->server,
                                .dev = dev_of(net),
                                .rate_Bps = (double)speed_Mbps * 125e3,
                                .busid = ""});
    }
}

/* The tree below a part; libxml2 bounds its depth. */
static gboolean
add_below(Reader *reader, const XmlElement *element, uint32_t parent, GError **error)
{
    for (const XmlElement *pci = xml_child(element, "pci"); pci != NULL; pci = xml_next(pci)) {
        uint32_t part;
        if (!add_pci(reader, pci, parent, &part, error))
            return FALSE;
        if (part == INDEX_NONE)
            continue;
        if (part_at(reader, part)->sort != BRIDGE && xml_child(pci, "pci") != NULL) {
            if (!problem(reader, pci, error, "a GPU or NIC has a pci below it"))
                return FALSE;
        } else if (!add_below(reader, pci, part, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
add_cpus(Reader *reader, GError **error)
{
    const XmlElement *root = xml_tree_root(reader->tree);
    if (strcmp(root->name, "graphs") == 0)
        return xml_fail(reader->tree, root, error,
                        "these are rings and trees that NCCL chose, no topology; give the file of NCCL_TOPO_DUMP_FILE");
    if (strcmp(root->name, "system") != 0 || xml_child(root, "cpu") == NULL)
        return xml_fail(reader->tree, root, error, "expected <system> with <cpu> in it");
    for (const XmlElement *cpu = xml_child(root, "cpu"); cpu != NULL; cpu = xml_next(cpu)) {
        const char *hash = attribute(cpu, "host_hash");
        guint server = GPOINTER_TO_UINT(g_hash_table_lookup(reader->servers, hash));
        if (server == 0) {
            server = g_hash_table_size(reader->servers) + 1;
            g_hash_table_insert(reader->servers, (char *)hash, GUINT_TO_POINTER(server));
        }
        uint32_t part = add_part(
            reader, (Part){.sort = CPU, .element = cpu, .parent = INDEX_NONE, .server = server - 1, .busid = ""});
        if (!add_below(reader, cpu, part, error))
            return FALSE;
        for (const XmlElement *nic = xml_child(cpu, "nic"); nic != NULL; nic = xml_next(nic))
            add_virtual(reader, nic, part);
    }
    return TRUE;
}

static void
add_way(Reader *reader, uint32_t from, uint32_t to, double rate_Bps, LinkKind kind, const char *source)
{
    for (guint i = 0; i < reader->ways->len; i++) {
        Way *way = &g_array_index(reader->ways, Way, i);
        if (way->from == from && way->to == to && way->kind == kind) {
            way->rate_Bps += rate_Bps;
            return;
        }
    }
    Way way = {from, to, rate_Bps, source, kind};
    g_array_append_val(reader->ways, way);
}

/* The CPU above a part. */
static uint32_t
cpu_of(const Reader *reader, uint32_t part)
{
    while (part_at(reader, part)->parent != INDEX_NONE)
        part = part_at(reader, part)->parent;
    return part;
}

/* One <nvlink> or <xgmi>. */
static gboolean
add_nvlink(Reader *reader, uint32_t gpu, const XmlElement *of, const XmlElement *link, GError **error)
{
    g_autofree char *target = g_ascii_strdown(attribute(link, "target"), -1);
    const char *class = attribute(link, "tclass");
    guint64 count, sm = 0;
    gboolean is_xgmi = strcmp(link->name, "xgmi") == 0;
    if (!g_ascii_string_to_unsigned(attribute(link, "count"), 10, 1, 1024, &count, NULL))
        return problem(reader, link, error, "needs a count of 1 to 1024");
    g_ascii_string_to_unsigned(attribute(of, "sm"), 10, 1, 10000, &sm, NULL);
    double each_Bps = is_xgmi ? nccl_xgmi_Bps(attribute(of, "gcn")) : nccl_nvlink_Bps((unsigned)sm);
    if (each_Bps == 0)
        return problem(reader, of, error,
                       is_xgmi ? "gcn must tell the rate of xgmi, such as gfx942: this is none that is known"
                               : "sm must tell the rate of nvlink, such as 90: this is none that is known");
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(reader->by_bus, target));
    double rate_Bps = each_Bps * (double)count;
    if (known - 1 == gpu) {
        reader->n_to_itself += (uint32_t)count;
    } else if (known != 0 && part_at(reader, known - 1)->sort == GPU) {
        add_way(reader, gpu, known - 1, rate_Bps, LINK_NVLINK, "table");
    } else if (g_str_has_prefix(class, "0x068001")) {
        add_way(reader, gpu, cpu_of(reader, gpu), rate_Bps, LINK_PCIE, "table");
    } else if (g_str_has_prefix(class, "0x0680") || g_str_has_prefix(target, "ffff")) {
        add_way(reader, gpu, nvswitch_of(reader, part_at(reader, gpu)->server), rate_Bps, LINK_NVLINK, "table");
    } else {
        return topology_problem(reader->options, reader->path, link->line, error, "%s: there is no GPU at \"%s\"",
                                link->name, attribute(link, "target"));
    }
    return TRUE;
}

/* <c2c bw="MB/s of one" count=>: between a GPU and its CPU. */
static gboolean
add_c2c(Reader *reader, uint32_t gpu, const XmlElement *link, GError **error)
{
    guint64 bw, count;
    if (!g_ascii_string_to_unsigned(attribute(link, "bw"), 10, 1, 1000000000, &bw, NULL) ||
        !g_ascii_string_to_unsigned(attribute(link, "count"), 10, 1, 1024, &count, NULL))
        return problem(reader, link, error, "needs bw in MB/s and a count of 1 to 1024");
    add_way(reader, gpu, cpu_of(reader, gpu), (double)bw * (double)count * 1e6, LINK_PCIE, "file");
    return TRUE;
}

/* What the GPUs and switches say about others. */
static gboolean
add_ways(Reader *reader, GError **error)
{
    for (uint32_t p = 0, n = reader->parts->len; p < n; p++) {
        const Part part = *part_at(reader, p);
        const XmlElement *gpu = part.sort == GPU ? xml_child(part.element, "gpu") : NULL;
        for (const XmlElement *link = gpu != NULL ? gpu->first : NULL; link != NULL; link = link->next) {
            gboolean is_nvlink = strcmp(link->name, "nvlink") == 0 || strcmp(link->name, "xgmi") == 0;
            if (is_nvlink && !add_nvlink(reader, p, gpu, link, error))
                return FALSE;
            if (strcmp(link->name, "c2c") == 0 && !add_c2c(reader, p, link, error))
                return FALSE;
        }
        const XmlElement *peer = part.sort == BRIDGE ? xml_child(part.element, "pcilink") : NULL;
        for (; peer != NULL; peer = xml_next(peer)) {
            g_autofree char *target = g_ascii_strdown(attribute(peer, "target"), -1);
            guint known = GPOINTER_TO_UINT(g_hash_table_lookup(reader->by_bus, target));
            if (known != 0 && known - 1 != p && part_at(reader, known - 1)->sort == BRIDGE)
                add_way(reader, p, known - 1, part.rate_Bps, LINK_PCIE, "file");
            else if (!problem(reader, peer, error, "there is no other switch at its target"))
                return FALSE;
        }
    }
    return TRUE;
}

static int
compare_devs(gconstpointer left, gconstpointer right, gpointer data)
{
    const Reader *reader = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const Part *one = part_at(reader, a), *two = part_at(reader, b);
    if (one->sort != two->sort)
        return one->sort < two->sort ? -1 : 1;
    if (one->server != two->server)
        return one->server < two->server ? -1 : 1;
    if (one->sort <= NIC && one->dev != two->dev)
        return one->dev < two->dev ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Its name within the server. The caller frees it. */
static char *
part_name(const Part *part, uint32_t number)
{
    static const char *const words[SORTS] = {[GPU] = "gpu", [NIC] = "nic", [CPU] = "cpu"};
    if (part->sort == NVSWITCH)
        return g_strdup("nvswitch");
    return part->sort == BRIDGE ? g_strdup_printf("pcie-%s", part->busid)
                                : g_strdup_printf("%s%u", words[part->sort], number);
}

/* The parts, GPUs first by dev, then NICs by dev. The caller frees the array. */
static GArray *
sort_parts(Reader *reader)
{
    GArray *order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t p = 0; p < reader->parts->len; p++)
        g_array_append_val(order, p);
    g_array_sort_with_data(order, compare_devs, reader);
    return order;
}

/* The NVLinks that a matrix of nvidia-smi counts, for a file that has none: its GPU k is here GPU k. */
static gboolean
add_matrix(Reader *reader, const char *path, GError **error)
{
    TopologyOptions options = *reader->options;
    options.companions = NULL;
    options.problems = NULL;
    options.default_rate_Bps = 1; /* its PCIe is not used */
    g_autoptr(Fabric) matrix = topology_read(path, "nvidia-smi", &options, NULL, error);
    if (matrix == NULL)
        return FALSE;
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(matrix, &n_gpus);
    if (g_hash_table_size(reader->servers) > 1 || n_gpus != reader->counts[GPU])
        return error_input(error, "%s: %u GPUs of one server, but %s has %u of %u", path, n_gpus, reader->path,
                           reader->counts[GPU], g_hash_table_size(reader->servers));
    for (guint i = 0; i < reader->ways->len; i++)
        if (g_array_index(reader->ways, Way, i).kind == LINK_NVLINK)
            return error_input(error, "%s: %s has NVLinks of its own", path, reader->path);
    g_autoptr(GArray) order = sort_parts(reader);
    g_autofree uint32_t *part = g_new(uint32_t, fabric_n_nodes(matrix));
    for (uint32_t g = 0; g < n_gpus; g++)
        part[gpus[g]] = g_array_index(order, uint32_t, g);
    for (uint32_t l = 0; l < fabric_n_links(matrix); l++) {
        const Link *link = fabric_link(matrix, l);
        gboolean from_gpu = fabric_node(matrix, link->src)->kind == NODE_GPU;
        gboolean to_gpu = fabric_node(matrix, link->dst)->kind == NODE_GPU;
        if (link->kind == LINK_NVLINK && from_gpu)
            add_way(reader, part[link->src], to_gpu ? part[link->dst] : nvswitch_of(reader, 0), link->capacity_Bps,
                    LINK_NVLINK, "default");
    }
    return TRUE;
}

/* GPUs first, by dev, so that they are ranks in this order. */
static gboolean
add_nodes(Reader *reader, GError **error)
{
    static const NodeKind kinds[SORTS] = {NODE_GPU, NODE_NIC, NODE_NVSWITCH, NODE_PCIE, NODE_PCIE};
    gboolean several = g_hash_table_size(reader->servers) > 1;
    g_autoptr(GArray) order = sort_parts(reader);
    uint32_t number = 0;
    const Part *last = NULL;
    for (uint32_t i = 0; i < order->len; i++) {
        Part *part = part_at(reader, g_array_index(order, uint32_t, i));
        number = last != NULL && last->sort == part->sort && last->server == part->server ? number + 1 : 0;
        last = part;
        g_autofree char *server = several ? g_strdup_printf("server%u", part->server) : g_strdup("server");
        g_autofree char *bare = part_name(part, number);
        g_autofree char *inner =
            fabric_find(reader->fabric, bare) == INDEX_NONE ? g_strdup(bare) : g_strdup_printf("%s-%u", bare, number);
        g_autofree char *name = several ? g_strdup_printf("%s/%s", server, inner) : g_strdup(inner);
        Node node = node_default();
        node.name = name;
        node.server = server;
        node.kind = kinds[part->sort];
        node.rail = part->sort == NIC ? (int32_t)number : -1;
        part->node = fabric_add_node(reader->fabric, &node, error);
        if (part->node == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

/* Both directions between two parts; rates of 0 are the default. */
static gboolean
add_pair(const Reader *reader, uint32_t a, uint32_t b, LinkKind kind, double forth_Bps, double back_Bps,
         const char *rate_source, GError **error)
{
    double rates_Bps[] = {forth_Bps, back_Bps};
    for (int way = 0; way < 2; way++) {
        g_autofree char *source = g_strdup_printf("rate %s, latency default", rate_source);
        Link link = link_default();
        link.src = part_at(reader, way == 0 ? a : b)->node;
        link.dst = part_at(reader, way == 0 ? b : a)->node;
        link.kind = kind;
        link.capacity_Bps = rates_Bps[way] > 0 ? rates_Bps[way] : reader->options->default_rate_Bps;
        link.latency_ps = reader->options->default_latency_ps;
        link.source = rates_Bps[way] > 0 && strcmp(rate_source, "default") != 0 ? source : "default";
        if (fabric_add_link(reader->fabric, &link, error) == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

/* Of each pair once; what one end does not say is as the other says. */
static gboolean
add_way_links(const Reader *reader, GError **error)
{
    for (guint i = 0; i < reader->ways->len; i++) {
        const Way *way = &g_array_index(reader->ways, Way, i), *back = NULL;
        guint mirror = 0;
        for (guint k = 0; k < reader->ways->len && back == NULL; k++) {
            const Way *other = &g_array_index(reader->ways, Way, k);
            if (other->from == way->to && other->to == way->from && other->kind == way->kind) {
                back = other;
                mirror = k;
            }
        }
        if (back != NULL && mirror < i)
            continue;
        if (!add_pair(reader, way->from, way->to, way->kind, way->rate_Bps,
                      back != NULL ? back->rate_Bps : way->rate_Bps, way->source, error))
            return FALSE;
    }
    return TRUE;
}

static double
cpu_rate_Bps(const Part *cpu)
{
    const XmlElement *element = cpu->element;
    return nccl_cpu_Bps(xml_attribute(element, "arch"), xml_attribute(element, "vendor"),
                        xml_attribute(element, "familyid"), xml_attribute(element, "modelid"));
}

/* The PCIe tree, and a link between each two CPUs of a server. */
static gboolean
add_tree_links(const Reader *reader, GError **error)
{
    for (uint32_t p = 0; p < reader->parts->len; p++) {
        const Part *part = part_at(reader, p);
        if (part->parent != INDEX_NONE &&
            !add_pair(reader, p, part->parent, LINK_PCIE, part->rate_Bps, part->rate_Bps, "file", error))
            return FALSE;
        for (uint32_t q = 0; part->sort == CPU && q < p; q++) {
            const Part *other = part_at(reader, q);
            double rate_Bps = cpu_rate_Bps(other);
            if (other->sort == CPU && other->server == part->server &&
                !add_pair(reader, q, p, LINK_PCIE, rate_Bps, rate_Bps, "table", error))
                return FALSE;
        }
    }
    return TRUE;
}

static gboolean
check_options(Reader *reader, GError **error)
{
    uint32_t n_cpus = 0;
    for (uint32_t p = 0; p < reader->parts->len; p++)
        if (part_at(reader, p)->sort == CPU && ++n_cpus < reader->counts[CPU] &&
            cpu_rate_Bps(part_at(reader, p)) == 0 && reader->n_defaults++ == 0)
            reader->without_rate = part_at(reader, p)->element->line;
    if (reader->n_defaults > 0 && reader->options->default_rate_Bps <= 0)
        return error_input(error,
                           "%s:%zu: link_speed, speed or the CPU's model says no rate that is known (here first of "
                           "%u): give one with --default-rate",
                           reader->path, reader->without_rate, reader->n_defaults);
    if (reader->options->default_latency_ps < 0)
        return error_input(error, "%s: says no latency of any link: give --default-latency", reader->path);
    return TRUE;
}

static char *
make_notes(const Reader *reader)
{
    GString *notes = g_string_new(NULL);
    uint32_t n_nvlinks = 0;
    for (guint i = 0; i < reader->ways->len; i++)
        n_nvlinks += g_array_index(reader->ways, Way, i).kind == LINK_NVLINK;
    g_string_append_printf(notes, "%u GPUs, %u NICs, %u PCIe switches, %u CPUs\n", reader->counts[GPU],
                           reader->counts[NIC], reader->counts[BRIDGE], reader->counts[CPU]);
    if (n_nvlinks == 0)
        g_string_append(notes, "no nvlink or xgmi leads to another GPU: all goes over PCIe\n");
    else if (reader->options->companions == NULL)
        g_string_append(notes, "rates of NVLink and xGMI are not in the file: those that NCCL and RCCL reckon with\n");
    if (reader->n_to_itself > 0)
        g_string_append_printf(notes, "%u nvlink that lead from a GPU to itself are left out\n", reader->n_to_itself);
    if (reader->counts[CPU] > 1)
        g_string_append(notes, "what joins the CPUs is not in the file: each two are joined at NCCL's rate\n");
    if (reader->n_shared > 0)
        g_string_append_printf(notes, "%u PCIe switches have the bus id of another: each is a switch of its own\n",
                               reader->n_shared);
    if (reader->n_widths > 0)
        g_string_append_printf(notes, "%u link_width are absent or 0: 16 lanes, as NCCL takes it\n", reader->n_widths);
    if (reader->n_defaults > 0)
        g_string_append_printf(notes, "%u rates are not said: --default-rate is taken\n", reader->n_defaults);
    return g_string_free(notes, FALSE);
}

static Fabric *
make_fabric(Reader *reader, char **notes, GError **error)
{
    guint before = topology_n_problems(reader->options);
    if (!add_cpus(reader, error) || !add_ways(reader, error) ||
        !topology_sound(reader->options, before, reader->path, error))
        return NULL;
    if (!check_options(reader, error))
        return NULL;
    const char *const *companions = reader->options->companions;
    for (size_t i = 0; companions != NULL && companions[i] != NULL; i++)
        if (!add_matrix(reader, companions[i], error))
            return NULL;
    g_autoptr(Fabric) fabric = reader->fabric = fabric_new();
    if (!add_nodes(reader, error) || !add_way_links(reader, error) || !add_tree_links(reader, error) ||
        !fabric_seal(fabric, error)) {
        g_prefix_error(error, "%s: ", reader->path);
        return NULL;
    }
    if (notes != NULL)
        *notes = make_notes(reader);
    return g_steal_pointer(&fabric);
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(XmlTree) tree = xml_tree_read(path, FILE_LIMIT, error);
    if (tree == NULL)
        return NULL;
    Reader reader = {.path = path,
                     .options = options,
                     .tree = tree,
                     .parts = g_array_new(FALSE, FALSE, sizeof(Part)),
                     .ways = g_array_new(FALSE, FALSE, sizeof(Way)),
                     .by_bus = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                     .servers = g_hash_table_new(g_str_hash, g_str_equal)};
    Fabric *fabric = make_fabric(&reader, notes, error);
    g_array_unref(reader.parts);
    g_array_unref(reader.ways);
    g_hash_table_unref(reader.by_bus);
    g_hash_table_unref(reader.servers);
    return fabric;
}

static gboolean
recognise(const char *head, size_t length)
{
    return xml_head_is(head, length, "system") || xml_head_is(head, length, "graphs");
}

const TopologyFormat topology_nccl = {"nccl", "NCCL and RCCL topology XML: the inside of a server", recognise, read};

/* nccl_rates.h - what a topology file of NCCL leaves to NCCL: rates by generation, one direction, in B/s
 *
 * The figures are those that NCCL (NVIDIA/nccl, src/graph/topo.h) and RCCL (ROCm/rccl, the same file) reckon with: what
 * a transfer gets, less than the wire. 0 = not known. */
#pragma once

/* "16.0 GT/s PCIe" and lanes: 3/4 of the wire, 1.5 GB/s a lane at 16 GT/s. */
double nccl_pcie_Bps(const char *link_speed, unsigned lanes);
/* One NVLink by compute capability: 80 = 20 GB/s, 90 = 20.6 GB/s ... */
double nccl_nvlink_Bps(unsigned sm);
/* One xGMI by architecture: "gfx90a" or "910", 36 GB/s; "gfx942" or "940", 48 GB/s; older, 24 GB/s. */
double nccl_xgmi_Bps(const char *gcn);
/* Between two CPUs (NUMA nodes); any text may be NULL. */
double nccl_cpu_Bps(const char *arch, const char *vendor, const char *family, const char *model);

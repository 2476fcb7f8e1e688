#include "kernels/cpu/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace terra::cpu {

namespace {

struct CloseFile {
  void operator()(FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<FILE, CloseFile>;

int processors_of_quota(double quota, double period) {
  return quota > 0 && period > 0 ? static_cast<int>(std::ceil(quota / period)) : 0;
}

/// Processors' worth of time the container allows; 0 if there is no limit.
int cgroup_limit() {
  double quota = 0, period = 0;
  if (File v2{std::fopen("/sys/fs/cgroup/cpu.max", "r")}) {
    return std::fscanf(v2.get(), "%lf %lf", &quota, &period) == 2 ? processors_of_quota(quota, period) : 0;
  }
  File v1_quota{std::fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "r")};
  File v1_period{std::fopen("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "r")};
  if (!v1_quota || !v1_period) return 0;
  if (std::fscanf(v1_quota.get(), "%lf", &quota) != 1 || std::fscanf(v1_period.get(), "%lf", &period) != 1) return 0;
  return processors_of_quota(quota, period);
}

}  // namespace

int usable_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const int allowed = sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 1;
  const int limit = cgroup_limit();
  return std::max(1, limit > 0 ? std::min(allowed, limit) : allowed);
}

}  // namespace terra::cpu

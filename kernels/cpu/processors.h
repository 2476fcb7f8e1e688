// How many processors this process may use.
#pragma once

namespace terra::cpu {

/// The smaller of the affinity mask and the cgroup's processor quota (rounded up), at least 1.
int usable_processors();

}  // namespace terra::cpu

#include "graph/cache/build_policy.h"

namespace terra::graph {

namespace {

constinit BuildPolicy policy_of_process;

}  // namespace

void set_build_policy(BuildPolicy policy) { policy_of_process = policy; }
const BuildPolicy& build_policy() { return policy_of_process; }

}  // namespace terra::graph

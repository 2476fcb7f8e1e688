#include "graph/ir/handle.h"

namespace terra::graph {
namespace {

HostFunction host_function = nullptr;

}  // namespace

HandleTable& handle_table() {
  static HandleTable table;
  return table;
}

void set_host_functions(HostFunction function) { host_function = function; }
HostFunction host_functions() { return host_function; }

}  // namespace terra::graph

#include "recursive/ir/host.h"

#include <deque>
#include <mutex>

#include "engine/errors/errors.h"
#include "recursive/ir/body.h"

namespace terra {
namespace recursive {
namespace {

std::mutex& guard() {
  static std::mutex mutex;
  return mutex;
}

/// Never shrinks: a function stays where it is.
std::deque<HostFunctionObject>& functions() {
  static std::deque<HostFunctionObject> all;
  return all;
}

graph::HostFunction others = nullptr;

void dispatch(uint32_t index, std::span<const graph::HostValue> args, std::span<graph::HostValue> results) {
  if (index < kFirstHostFunction) {
    ensure(others != nullptr, "a graph calls a host function that somebody supplied");
    return others(index, args, results);
  }
  const HostFunctionObject* function = nullptr;
  {
    const std::lock_guard lock(guard());
    function = &functions().at(index - kFirstHostFunction);
  }
  results[0] = (*function)(args);
}

}  // namespace

uint32_t add_host_function(HostFunctionObject function) {
  const std::lock_guard lock(guard());
  functions().push_back(std::move(function));
  return kFirstHostFunction + static_cast<uint32_t>(functions().size()) - 1;
}

void install_host_functions() {
  const std::lock_guard lock(guard());
  if (graph::host_functions() == dispatch) return;
  others = graph::host_functions();
  graph::set_host_functions(dispatch);
}

HostSymbol read_host(const std::string& name, uint32_t function, std::span<const graph::ValueMeta> takes,
                     const graph::ValueMeta& gives, std::span<const HostSymbol> operands) {
  check_kind(takes.size() == operands.size(), ErrorKind::TypeError, "host read '{}' takes {} operands, but got {}",
             name, takes.size(), operands.size());
  graph::Node n;
  n.kind = graph::NodeKind::HostCall;
  n.index = function;
  n.chain = graph::kHostChain;
  for (size_t i = 0; i < operands.size(); ++i) {
    check_kind(operands[i].meta() == takes[i], ErrorKind::TypeError,
               "operand {} of host read '{}' is a {}, but got a {}", i, name, to_string(takes[i]),
               to_string(operands[i].meta()));
    n.args.push_back(graph::Use{operands[i].id()});
  }
  return {Body::current(name).emit(std::move(n), {gives})[0], gives};
}

}  // namespace recursive

Tensor HostSymbol::as_tensor() const {
  check_kind(meta_.kind == graph::ValueKind::Scalar, ErrorKind::TypeError, "a {} is no number that could be a tensor",
             to_string(meta_));
  graph::Node n;
  n.kind = graph::NodeKind::AsTensor;
  n.args = {graph::Use{id_}};
  recursive::Body& body = recursive::Body::current("as_tensor");
  return body.tensor(body.emit(std::move(n), {graph::ValueMeta::tensor(Scalar::dtype_of(meta_.scalar), {}, {})})[0]);
}

Tensor HostSymbol::as_number() const {
  check_kind(meta_.kind == graph::ValueKind::Scalar, ErrorKind::TypeError, "a {} is no number", to_string(meta_));
  return recursive::Body::current("as_number").emitter().number(id_);
}

}  // namespace terra

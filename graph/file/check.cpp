// What a program promises whoever runs it: everything that it names is there, and nothing reaches beyond its memory.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "graph/file/portable.h"
#include "graph/file/shapes.h"
#include "graph/ir/verify.h"

namespace terra::graph {
namespace {

/// Own tensors may leave gaps in their memory, up to so many times what they hold.
constexpr int64_t kMostGaps = 16;

/// Whether there could be a tensor of these sizes.
bool is_in_memory(const ValueMeta& m) {
  auto bytes = static_cast<int64_t>(size_of(m.dtype));
  for (int64_t size : m.sizes)
    if (size < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) return false;
  return m.sizes.size() <= static_cast<size_t>(kMaxRank) && bytes < static_cast<int64_t>(kMostBytes);
}

/// Elements of a tensor whose sizes and strides are given; -1 where they are those of no tensor in memory.
int64_t elements(const Dims& sizes, const Dims& strides, int64_t offset = 0) {
  if (sizes.size() != strides.size() || sizes.size() > static_cast<size_t>(kMaxRank) || offset < 0) return -1;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] < 0 || strides[d] < 0) return -1;
  const int64_t reach = storage_reach(sizes, strides, offset);
  return reach >= static_cast<int64_t>(kMostBytes) ? -1 : reach;
}

/// Whether a view fits into memory that holds so many elements of another dtype.
bool fits(const Dims& sizes, const Dims& strides, int64_t offset, DType dtype, int64_t available, DType available_as) {
  const int64_t reach = elements(sizes, strides, offset);
  const auto bytes = [](int64_t count, DType t) { return static_cast<uint64_t>(count) * size_of(t); };
  return reach >= 0 && bytes(reach, dtype) <= bytes(available, available_as);
}

class Check {
 public:
  explicit Check(const PortableProgram& p) : p_(p), program_(p.program), graph_(p.program.graph) {}

  std::string run() {
    check_no_gradients();
    check_values(graph_);
    if (problem_.empty()) complain(graph::find_violation(graph_, Stage::Portable));
    if (problem_.empty()) complain(find_shape_violation(graph_));
    for (size_t i = 0; i < p_.tensors.size() && problem_.empty(); ++i) check_tensor(p_.tensors[i]);
    if (problem_.empty() && program_.inputs.size() != graph_.inputs.size())
      complain(fmt::format("it binds {} inputs of a graph that has {}", program_.inputs.size(), graph_.inputs.size()));
    for (size_t i = 0; i < program_.inputs.size() && problem_.empty(); ++i) check_input(i);
    for (size_t i = 0; i < program_.tensors.size() && problem_.empty(); ++i) check_spec(i);
    for (const StorageWrite& w : program_.writes)
      if (problem_.empty()) check_write(w);
    for (const ResultSpec& r : program_.results)
      if (problem_.empty()) check_result(r);
    return problem_;
  }

 private:
  void complain(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }

  void check_no_gradients() {
    const bool any = !program_.roots.empty() || !program_.parts.empty() || !program_.functions.empty() ||
                     !program_.gradients.empty() || !program_.grads.empty() || !program_.flags.empty();
    if (any) complain("it has to do with gradients, which a program that is kept does not");
    for (Generator* generator : program_.generators)
      if (generator) complain("it draws random numbers from a generator of its own");
  }

  void check_values(const Graph& graph) {
    for (const ValueMeta& m : graph.values) {
      if (!is_in_memory(m))
        complain(fmt::format("graph \"{}\" has a value of {}, which no memory holds", graph.name, to_string(m)));
      if (!m.device.is_cpu())
        complain(fmt::format("graph \"{}\" has a value of {}, and programs in files are the CPU's", graph.name,
                             to_string(m)));
    }
    for (const Node& n : graph.nodes)
      for (const auto& body : n.bodies) check_values(*body);
  }

  void check_tensor(const ProgramTensor& t) {
    const ValueMeta meta = ValueMeta::tensor(t.dtype, t.sizes, {});
    const int64_t reach = elements(t.sizes, t.strides);
    if (!is_in_memory(meta) || reach < 0)
      return complain(fmt::format("'{}' has sizes and strides that no memory holds", t.name));
    if (t.role == ProgramTensor::Role::Argument) return;
    if (reach / kMostGaps > meta.numel())
      complain(fmt::format("'{}' leaves gaps in its memory, with strides {}", t.name, to_string(t.strides)));
    if (t.name.starts_with(kConstantPrefix)) complain(fmt::format("'{}' is the name of a constant", t.name));
    if (!names_.insert(t.name).second) complain(fmt::format("two of its tensors are named '{}'", t.name));
  }

  const ProgramTensor* bound(uint32_t index) {
    if (index < p_.tensors.size()) return &p_.tensors[index];
    complain(fmt::format("it names tensor {} of {}", index, p_.tensors.size()));
    return nullptr;
  }

  void check_input(size_t i) {
    const InputBinding& in = program_.inputs[i];
    const ValueMeta& meta = graph_.meta(graph_.inputs[i]);
    if (in.kind != InputBinding::Kind::Tensor)
      return complain(fmt::format("input {} is a number of the host program", i));
    const ProgramTensor* t = bound(in.index);
    if (!t) return;
    // Where the tensor begins counts from its own first element.
    if (!meta.is_tensor() || meta.dtype != t->dtype || !in.own_offset ||
        !fits(meta.sizes, in.strides, 0, meta.dtype, elements(t->sizes, t->strides), t->dtype))
      complain(fmt::format("input {} of the graph is no view of '{}'", i, t->name));
  }

  void check_looped(const std::vector<LoopedWrites>& looped) {
    for (const LoopedWrites& l : looped)
      if (l.output >= graph_.outputs.size() || graph_.meta(graph_.outputs[l.output]).kind != ValueKind::Scalar)
        complain("it counts the rounds of a loop by what is no number");
  }

  void check_spec(size_t i) {
    const TensorSpec& s = program_.tensors[i];
    const auto view_of = [&](const Dims& sizes, const Dims& strides, DType dtype) {
      if (!fits(s.sizes, s.strides, s.offset, s.dtype, elements(sizes, strides), dtype))
        complain(fmt::format("result tensor {} reaches beyond its memory", i));
    };
    if (s.leaf_requires_grad || s.retains_grad || s.spent || s.view)
      return complain(fmt::format("result tensor {} has to do with gradients", i));
    check_looped(s.looped);
    switch (s.source) {
      case TensorSpec::Source::Input: bound(s.index); break;
      case TensorSpec::Source::InputStorage:
        if (!s.from_input_offset) return complain(fmt::format("result tensor {} lies anywhere in an input", i));
        if (const ProgramTensor* t = bound(s.index)) view_of(t->sizes, t->strides, t->dtype);
        break;
      case TensorSpec::Source::Fresh: {
        if (s.index >= graph_.outputs.size() || !graph_.meta(graph_.outputs[s.index]).is_tensor())
          return complain(fmt::format("result tensor {} is no output of the graph", i));
        const ValueMeta& made = graph_.meta(graph_.outputs[s.index]);
        view_of(made.sizes, contiguous_strides(made.sizes), made.dtype);
        break;
      }
      case TensorSpec::Source::Constant: {
        if (s.index >= graph_.constants.size())
          return complain(fmt::format("result tensor {} is no constant of the graph", i));
        const Tensor& t = graph_.constants[s.index].second;
        view_of(t.sizes(), t.strides(), t.dtype());
        break;
      }
    }
  }

  void check_write(const StorageWrite& w) {
    if (w.input >= graph_.inputs.size() || w.output >= graph_.outputs.size() ||
        !(graph_.meta(graph_.inputs[w.input]) == graph_.meta(graph_.outputs[w.output])))
      complain(fmt::format("output {} is no new value of input {}", w.output, w.input));
    check_looped(w.looped);
  }

  void check_result(const ResultSpec& r) {
    const bool tensor = r.kind == ResultSpec::Kind::Tensor, scalar = r.kind == ResultSpec::Kind::Scalar;
    if ((tensor && r.index >= program_.tensors.size()) ||
        (scalar &&
         (r.index >= graph_.outputs.size() || graph_.meta(graph_.outputs[r.index]).kind != ValueKind::Scalar)))
      complain(fmt::format("a result is number {}, which there is not", r.index));
  }

  const PortableProgram& p_;
  const Program& program_;
  const Graph& graph_;
  std::set<std::string> names_;  ///< of own tensors: those that a file has
  std::string problem_;
};

}  // namespace

std::string find_violation(const PortableProgram& program) { return Check(program).run(); }

}  // namespace terra::graph

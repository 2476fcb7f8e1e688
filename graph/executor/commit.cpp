#include "graph/executor/commit.h"

#include "engine/device/backend.h"

namespace terra::graph {
namespace {

/// Values that writes of an op node replace, in the order of its results.
std::vector<ValueId> written_values(const Node& node) {
  std::vector<ValueId> out;
  for (size_t p = 0; p < node.args.size(); ++p) {
    if (!(node.op->writes >> p & 1)) continue;
    if (const auto* use = std::get_if<Use>(&node.args[p])) out.push_back(use->id);
    if (const auto* list = std::get_if<UseList>(&node.args[p]))
      for (ValueId id : *list)
        if (id != kNoId) out.push_back(id);
  }
  return out;
}

bool contiguous(const Dims& sizes, const Dims& strides) {
  const View v{nullptr, sizes.data(), strides.data(), static_cast<int32_t>(sizes.size()), DType::F32};
  return v.is_contiguous();
}

/// Within its own node the old value may only be read where it is replaced: as itself, not through another view, in an
/// elementwise chain before the new value is stored, elsewhere once.
bool reads_only_as_replaced(const Node& node, size_t result, ValueId old, const std::vector<ValueId>& root) {
  size_t times = 0;
  bool good = true;
  for_each_use(node, [&](ValueId id) {
    times += id == old;
    good &= root[id] != old || id == old;
  });
  if (!is_elementwise_node(node)) return good && times == 1;
  for (size_t a = 0; a < node.args.size(); ++a)
    if (const auto* use = std::get_if<Use>(&node.args[a]); use && use->id == old)
      good &= read_before_made(node, a, result);
  return good;
}

}  // namespace

bool is_elementwise_node(const Node& node) {
  if (node.kind == NodeKind::Fused) return true;
  if (!node.is_op(kElementwise) || node.op->writes) return false;
  const Kernel* kernel = cpu_backend().find_kernel(node.op->name);
  return kernel && !kernel->run;
}

bool cannot_fail(const Node& node) {
  switch (node.kind) {
    case NodeKind::Op: return !node.op->is(kChecksValues | kHost | kRandom);
    case NodeKind::Fused:
      for (const Node& inner : node.bodies[0]->nodes)
        if (!cannot_fail(inner)) return false;
      return true;
    case NodeKind::WriteView: return true;
    default: return false;
  }
}

ValueId replaced_operand(const Graph& graph, const Node& node, size_t r) {
  if (node.kind == NodeKind::WriteView) return std::get<Use>(node.args[0]).id;
  if (node.kind == NodeKind::Op && node.op->writes) {
    const std::vector<ValueId> written = written_values(node);
    return r < written.size() ? written[r] : kNoId;
  }
  if (!is_elementwise_node(node)) return kNoId;
  const ValueMeta& meta = graph.meta(node.results[r]);
  for (const NodeArg& a : node.args)
    if (const auto* use = std::get_if<Use>(&a); use && graph.meta(use->id) == meta) return use->id;
  return kNoId;
}

bool read_before_made(const Node& node, size_t arg, size_t r) {
  if (node.kind != NodeKind::Fused) return true;
  const Graph& body = *node.bodies[0];
  int32_t last_read = -1;
  for (size_t k = 0; k < body.nodes.size(); ++k)
    for_each_use(body.nodes[k], [&](ValueId id) {
      if (id == body.inputs[arg]) last_read = static_cast<int32_t>(k);
    });
  return last_read <= definitions(body)[body.outputs[r]];
}

CommitChoice choose_commits(const Graph& graph, const std::vector<OutputRole>& roles,
                            const std::vector<Dims>& input_strides) {
  CommitChoice choice{std::vector<bool>(graph.nodes.size()), std::vector<bool>(roles.size())};
  const std::vector<int32_t> made_by = definitions(graph);

  // Views of an input read the input's memory: trace each value to the value whose memory it may share.
  std::vector<ValueId> root(graph.values.size());
  for (ValueId v = 0; v < root.size(); ++v) root[v] = v;
  for (const Node& n : graph.nodes)
    if (n.is_op(kView)) root[n.results[0]] = root[std::get<Use>(n.args[0]).id];

  std::vector<std::vector<int32_t>> readers(graph.values.size());  // by root: nodes that read its memory
  std::vector<uint32_t> uses = use_counts(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (!graph.nodes[n].is_op(kView))
      for_each_use(graph.nodes[n], [&](ValueId id) { readers[root[id]].push_back(static_cast<int32_t>(n)); });
  std::vector<bool> escapes(graph.values.size(), false);
  for (ValueId id : graph.outputs) escapes[root[id]] = true;

  // Each write with a node that could make it in place.
  struct Candidate {
    size_t output;
    int32_t node;
    size_t result;
    ValueId input;
  };
  std::vector<Candidate> candidates;
  for (size_t o = 0; o < roles.size(); ++o) {
    if (roles[o].kind != OutputRole::Kind::Write) continue;
    const ValueId value = graph.outputs[o], input = graph.inputs[roles[o].input];
    const int32_t n = made_by[value];
    if (n < 0 || uses[value] != 1 || !cannot_fail(graph.nodes[n])) continue;
    const Node& node = graph.nodes[n];
    const auto& strides = input_strides.empty() ? Dims() : input_strides[roles[o].input];
    if (!(graph.meta(value) == graph.meta(input)) ||
        (!input_strides.empty() && !contiguous(graph.meta(input).sizes, strides)))
      continue;
    for (size_t r = 0; r < node.results.size(); ++r) {
      if (node.results[r] != value) continue;
      ValueId replaced = replaced_operand(graph, node, r);
      if (is_elementwise_node(node)) {  // any operand of that shape would do: prefer the input itself
        replaced = kNoId;
        for_each_use(node, [&](ValueId id) { replaced = id == input ? id : replaced; });
      }
      if (replaced == input) candidates.push_back({o, n, r, input});
    }
  }

  // Drop candidates until all conditions hold; dropping one can only make others fail, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<bool> tail(graph.nodes.size(), false);
    std::vector<size_t> made_in_place(graph.nodes.size(), 0);
    for (const Candidate& c : candidates) ++made_in_place[c.node];
    for (const Candidate& c : candidates) tail[c.node] = made_in_place[c.node] == graph.nodes[c.node].results.size();
    for (size_t k = 0; k < candidates.size() && !changed; ++k) {
      const Candidate& c = candidates[k];
      bool good = tail[c.node] && !escapes[c.input];
      for (int32_t reader : readers[c.input]) good &= reader == c.node || !tail[reader] || reader < c.node;
      good &= reads_only_as_replaced(graph.nodes[c.node], c.result, c.input, root);
      if (good) continue;
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(k));
      changed = true;
    }
    if (!changed) choice.in_tail = tail;
  }
  for (const Candidate& c : candidates) choice.written_in_place[c.output] = true;
  return choice;
}

}  // namespace terra::graph

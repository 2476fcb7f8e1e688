#include "graph/gradient/fold.h"

#include <algorithm>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "graph/gradient/partition.h"
#include "graph/gradient/undefined.h"
#include "graph/trace/emitter.h"

namespace terra::graph {
namespace {

using Flags = std::vector<bool>;

void join(Flags& to, const Flags& from) {
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i]) to[i] = true;
}

/// By root: which roots gradients for it come to, itself among them. What a part leads to lies in earlier ones.
std::vector<Flags> reached_from(size_t roots, const std::vector<ProgramPart>& parts) {
  std::vector<Flags> reached(roots, Flags(roots, false));
  for (const ProgramPart& part : parts)
    for (size_t k = 0; k < part.roots.size(); ++k) {
      Flags& from = reached[part.roots[k]];
      from[part.roots[k]] = true;
      for (size_t j = 0; j < part.targets.size(); ++j)
        if (part.ways.leads[k][j] && part.targets[j].kind == GradientTarget::Kind::Root)
          join(from, reached[part.targets[j].index]);
    }
  return reached;
}

/// By root: the targets of `all` that it leads to.
std::vector<Flags> targets_of(size_t roots, const std::vector<ProgramPart>& parts, const ProgramPart& all) {
  std::vector<Flags> leads(roots, Flags(all.targets.size(), false));
  for (const ProgramPart& part : parts)
    for (size_t k = 0; k < part.roots.size(); ++k)
      for (size_t j = 0; j < part.targets.size(); ++j) {
        if (!part.ways.leads[k][j]) continue;
        if (part.targets[j].kind == GradientTarget::Kind::Root)
          join(leads[part.roots[k]], leads[part.targets[j].index]);
        else
          leads[part.roots[k]][target_of(all, part.targets[j])] = true;
      }
  return leads;
}

SavingCalls fold(const SavingCalls& calls, const ProgramPart& part, const ProgramPart& all,
                 const std::vector<Flags>& reached, const std::vector<Flags>& leads) {
  SavingCalls folded{Flags(all.roots.size(), false), Flags(all.targets.size(), false), calls.memory};
  for (size_t w = 0; w < all.roots.size(); ++w)
    for (size_t k = 0; k < part.roots.size(); ++k)
      if (calls.roots[k] && reached[all.roots[w]][part.roots[k]]) folded.roots[w] = true;
  for (size_t j = 0; j < part.targets.size(); ++j) {
    if (!calls.targets[j]) continue;
    if (part.targets[j].kind == GradientTarget::Kind::Root)
      join(folded.targets, leads[part.targets[j].index]);
    else
      folded.targets[target_of(all, part.targets[j])] = true;
  }
  return folded;
}

/// Of the parts, the last is passed first.
std::vector<std::vector<uint32_t>> calls_before(const std::vector<ProgramPart>& parts, const ProgramPart& all,
                                                const std::vector<Flags>& reached) {
  std::vector<std::vector<uint32_t>> before(all.roots.size(), std::vector<uint32_t>(all.targets.size(), 0));
  uint32_t passed = 0;
  for (size_t p = parts.size(); p-- > 0;) {
    uint32_t most = 0;
    for (size_t k = 0; k < parts[p].roots.size(); ++k)
      for (size_t j = 0; j < parts[p].targets.size(); ++j) {
        const uint32_t calls = parts[p].ways.calls_before[k][j];
        most = std::max(most, calls);
        if (calls == 0 || parts[p].targets[j].kind == GradientTarget::Kind::Root) continue;
        for (size_t w = 0; w < all.roots.size(); ++w) {
          uint32_t& last = before[w][target_of(all, parts[p].targets[j])];
          if (reached[all.roots[w]][parts[p].roots[k]]) last = std::max(last, passed + calls);
        }
      }
    passed += most;
  }
  return before;
}

/// Plays the nodes of the parts one after the other, the last part first, and adds up what one hands on to another.
class Folding {
 public:
  Folding(const Program& backward, size_t roots, const std::vector<ProgramPart>& parts, const ProgramPart& all,
          const std::vector<uint32_t>& given)
      : backward_(backward),
        from_(backward.graph),
        parts_(parts),
        all_(all),
        given_(given),
        emitter_(out_.graph),
        to_(from_.values.size()),
        played_(from_.nodes.size(), false),
        arrives_(roots, false),
        of_root_(roots),
        of_target_(all.targets.size()) {
    for (ValueId v = 0; v < to_.size(); ++v) to_[v] = v;
    for (const uint32_t root : given) arrives_[root] = true;
    close_over(arrives_, parts);
  }

  Program run() {
    const GradMode off(false);
    const EmitterScope scope(emitter_);
    out_ = backward_;
    out_.graph.nodes.clear();
    out_.graph.outputs.clear();
    out_.graph.late_inputs.clear();
    out_.tensors.clear();
    out_.results.clear();
    out_.gradients.clear();
    for (uint32_t p = static_cast<uint32_t>(parts_.size()); p-- > 0;) {
      begin(parts_[p]);
      play(p);
      hand_on(p);
    }
    for (uint32_t t = 0; t < of_target_.size(); ++t) deliver(t);
    Flags undefined;  // the uses of those that the parts hand on are sums by now
    for (const InputBinding& in : out_.inputs)
      undefined.push_back(in.kind == InputBinding::Kind::Tangent && !is_given(in.index));
    return where_undefined(std::move(out_), undefined);
  }

 private:
  bool is_given(uint32_t root) const { return std::find(given_.begin(), given_.end(), root) != given_.end(); }

  /// All later parts have handed on what they have for its roots.
  void begin(const ProgramPart& part) {
    for (size_t i = 0; i < from_.inputs.size(); ++i) {
      const InputBinding& in = backward_.inputs[i];
      if (in.kind != InputBinding::Kind::Tangent) continue;
      if (std::find(part.roots.begin(), part.roots.end(), in.index) == part.roots.end()) continue;
      if (const Tensor& sum = of_root_[in.index]; sum.defined()) to_[from_.inputs[i]] = emitter_.value_of(*sum);
    }
  }

  void play(uint32_t p) {
    const Flags needed = needed_by_part(backward_, p);
    for (size_t n = 0; n < from_.nodes.size(); ++n) {
      if (played_[n] || !is_any_of(from_.nodes[n].results, needed)) continue;
      played_[n] = true;
      Node& node = out_.graph.nodes.emplace_back(from_.nodes[n]);
      for_each_use(node, [&](ValueId& id) { id = to_[id]; });
    }
  }

  void hand_on(uint32_t p) {
    for (size_t o = 0; o < from_.outputs.size(); ++o) {
      const Program::Gradient& g = backward_.gradients[o];
      if (g.part != p) continue;
      if (!comes_to(parts_[p], g.target)) continue;
      const GradientTarget& target = parts_[p].targets[g.target];
      const bool inside = target.kind == GradientTarget::Kind::Root;
      Tensor& sum = inside ? of_root_[target.index] : of_target_[target_of(all_, target)];
      if (inside && !sum.defined()) sum = tangent(target.index);
      const Tensor made = laid_out(to_[from_.outputs[o]], g.sizes, g.strides);
      sum = sum.defined() ? added(sum, made) : made;
    }
  }

  bool comes_to(const ProgramPart& part, uint32_t target) const {
    for (size_t k = 0; k < part.roots.size(); ++k)
      if (arrives_[part.roots[k]] && part.ways.leads[k][target]) return true;
    return false;
  }

  /// What comes for a root from behind the region; undefined where nothing does.
  Tensor tangent(uint32_t root) {
    for (size_t i = 0; i < from_.inputs.size() && is_given(root); ++i) {
      const InputBinding& in = backward_.inputs[i];
      if (in.kind == InputBinding::Kind::Tangent && in.index == root)
        return emitter_.whole(from_.inputs[i], contiguous_strides(from_.meta(from_.inputs[i]).sizes), 0);
    }
    return {};
  }

  Tensor laid_out(ValueId value, const Dims& sizes, const Dims& strides) {
    const ValueMeta& meta = out_.graph.meta(value);
    const Tensor whole = emitter_.whole(value, contiguous_strides(meta.sizes), 0);
    if (meta.sizes == sizes && strides == contiguous_strides(sizes)) return whole;
    return emitter_.strided(whole, {meta.dtype, sizes, false, meta.device}, strides, 0, 0);
  }

  static Tensor added(const Tensor& sum, const Tensor& g) {
    static const Op *add = find_op("add"), *to_dtype = find_op("to_dtype");
    return (*add)(sum, g.dtype() == sum.dtype() ? g : (*to_dtype)(g, sum.dtype()));
  }

  void deliver(uint32_t t) {
    const Tensor& g = of_target_[t];
    if (!g.defined()) return;
    const ValueId memory = GraphEmitter::memory_of(*g);
    add_gradient(out_, {0, t, g.sizes(), memory == kNoId ? contiguous_strides(g.sizes()) : g.strides()},
                 memory == kNoId ? emitter_.value_of(*g) : memory);
  }

  const Program& backward_;
  const Graph& from_;
  const std::vector<ProgramPart>& parts_;
  const ProgramPart& all_;
  const std::vector<uint32_t>& given_;
  Program out_;
  GraphEmitter emitter_;
  std::vector<ValueId> to_;  ///< by value of `from_`
  Flags played_;
  Flags arrives_;  ///< by root: a gradient, from wherever
  std::vector<Tensor> of_root_, of_target_;
};

}  // namespace

size_t target_of(const ProgramPart& all, const GradientTarget& input) {
  const auto is_it = [&](const GradientTarget& t) { return t.index == input.index; };
  return static_cast<size_t>(std::find_if(all.targets.begin(), all.targets.end(), is_it) - all.targets.begin());
}

ProgramPart fold(const std::vector<ProgramRoot>& roots, const std::vector<ProgramPart>& parts) {
  ProgramPart all;
  all.first = parts.front().first;
  for (const ProgramPart& part : parts)
    for (const uint32_t k : part.roots)
      if (roots[k].spec != ProgramRoot::kInside) all.roots.push_back(k);
  for (size_t p = parts.size(); p-- > 0;)
    for (const GradientTarget& target : parts[p].targets) {
      ensure(target.kind != GradientTarget::Kind::Function, "gradients that functions of the program wait for");
      if (target.kind == GradientTarget::Kind::Input && target_of(all, target) == all.targets.size())
        all.targets.push_back(target);
    }
  const std::vector<Flags> reached = reached_from(roots.size(), parts), leads = targets_of(roots.size(), parts, all);
  for (const uint32_t k : all.roots) all.ways.leads.push_back(leads[k]);
  for (const ProgramPart& part : parts)
    for (const SavingCalls& calls : part.ways.saving) all.ways.saving.push_back(fold(calls, part, all, reached, leads));
  all.ways.calls_before = calls_before(parts, all, reached);
  return all;
}

std::vector<bool> leads_on(const ProgramPart& all, const std::vector<ProgramPart>& parts) {
  Flags inside;
  for (const uint32_t k : all.roots)
    inside.push_back(std::any_of(parts.begin(), parts.end(), [k](const ProgramPart& part) {
      return std::any_of(part.targets.begin(), part.targets.end(),
                         [k](const GradientTarget& t) { return t.kind == GradientTarget::Kind::Root && t.index == k; });
    }));
  return inside;
}

void close_over(std::vector<bool>& expected, const std::vector<ProgramPart>& parts) {
  for (size_t p = parts.size(); p-- > 0;)
    for (size_t k = 0; k < parts[p].roots.size(); ++k) {
      if (!expected[parts[p].roots[k]]) continue;
      for (size_t j = 0; j < parts[p].targets.size(); ++j)
        if (parts[p].ways.leads[k][j] && parts[p].targets[j].kind == GradientTarget::Kind::Root)
          expected[parts[p].targets[j].index] = true;
    }
}

Program backward_of_all(const Program& backward, size_t roots, const std::vector<ProgramPart>& parts,
                        const ProgramPart& all, const std::vector<uint32_t>& given) {
  return Folding(backward, roots, parts, all, given).run();
}

}  // namespace terra::graph

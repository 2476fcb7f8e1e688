#include "recursive/runtime/forest.h"

#include <utility>

#include "engine/errors/errors.h"

namespace terra::recursive {

class Forest::Walk {
 public:
  explicit Walk(Forest& forest) : forest_(forest), graphs_(*forest.graphs_), function_(graph::host_functions()) {}

  void run(std::span<const std::vector<HostValue>> roots) {
    for (uint32_t r = 0; r < roots.size(); ++r) {
      const SubGraph& root = graphs_.root();
      for (size_t i = 0; i < root.inputs.size(); ++i)
        if (root.inputs[i].kind == InputKind::Host) operands_.push_back(roots[r][i]);
      forest_.roots_.push_back(static_cast<CallId>(forest_.calls_.size()));
      enter_all({root.id, kNoCall, 0, r, 0, 0});
    }
  }

  /// False: a number that decides isn't there yet.
  bool run(const Waiting& waiting, const Item& item) {
    const Call caller = forest_.calls_[waiting.caller];
    const Path& p = graphs_.of(caller.callee).paths[caller.path];
    const graph::Node& n = p.body.nodes[p.calls[waiting.site]];
    const SubGraph& callee = graphs_.of(n.index);
    for (uint32_t i = 0; i < callee.inputs.size(); ++i) {
      if (callee.inputs[i].kind != InputKind::Host) continue;
      const ValueId given = graph::operand(n, i);
      if (!p.is_item(given)) {
        operands_.push_back(forest_.host_[caller.host + p.slot(given)]);
        continue;
      }
      const std::optional<Scalar> number = item(waiting, i, p.body.meta(given).scalar);
      if (!number) {
        operands_.clear();
        return false;
      }
      operands_.emplace_back(*number);
    }
    enter_all({n.index, waiting.caller, waiting.site, caller.root, caller.depth + 1, 0});
    return true;
  }

 private:
  struct Next {
    GraphId callee;
    CallId caller;
    uint32_t site, root, depth;
    uint32_t operands;  ///< where its host operands begin
  };

  void enter_all(const Next& first) {
    next_.push_back(first);
    while (!next_.empty()) {
      const Next next = next_.back();
      next_.pop_back();
      enter(next);
    }
    operands_.clear();
  }

  void enter(const Next& w) {
    if (w.depth > forest_.most_depth_) throw TooDeep();
    const SubGraph& callee = graphs_.of(w.callee);
    slots_.clear();
    for (size_t i = 0; i < callee.inputs.size(); ++i)
      if (callee.inputs[i].kind == InputKind::Host) slots_.push_back(std::move(operands_[w.operands + slots_.size()]));
    operands_.resize(w.operands);  // those of the calls that wait lie before
    const uint32_t path = choose(callee);
    auto& rows = forest_.paths_[w.callee][path];
    const auto id = static_cast<CallId>(forest_.calls_.size());
    Call call{w.callee, path, static_cast<uint32_t>(rows.size()), w.caller, w.site, w.root, w.depth};
    rows.push_back(id);
    call.called = static_cast<uint32_t>(forest_.called_.size());
    call.host = static_cast<uint32_t>(forest_.host_.size());
    if (w.caller != kNoCall) forest_.called_[forest_.calls_[w.caller].called + w.site] = id;
    const Path& p = callee.paths[path];
    forest_.called_.resize(forest_.called_.size() + p.calls.size(), kNoCall);
    for (auto site = static_cast<uint32_t>(p.calls.size()); site-- > 0;) wait_for(p, site, id, w);
    forest_.host_.insert(forest_.host_.end(), std::make_move_iterator(slots_.begin()),
                         std::make_move_iterator(slots_.end()));
    forest_.calls_.push_back(call);
  }

  uint32_t choose(const SubGraph& callee) {
    const HostBlock* block = &callee.blocks[0];
    for (;;) {
      for (const HostStep& step : block->steps) perform(step);
      if (block->next.empty()) return block->path;
      const int64_t chosen = std::get<Scalar>(slots_[block->selector]).to_int();
      const auto last = static_cast<int64_t>(block->next.size()) - 1;
      block = &callee.blocks[block->next[chosen >= 0 && chosen < last ? chosen : last]];
    }
  }

  void perform(const HostStep& step) {
    if (step.function == kItem) {
      slots_.emplace_back();
      return;
    }
    if (!function_) throw InternalError("a graph calls the host, which supplied no functions");
    args_.clear();
    for (uint32_t slot : step.args) args_.push_back(slots_[slot]);
    results_.assign(step.results.size(), HostValue());
    function_(step.function, args_, results_);
    for (HostValue& r : results_) {
      const auto* tensor = std::get_if<Tensor>(&r);
      forest_.reads_gradients_ |= tensor && tensor->requires_grad();
      slots_.push_back(std::move(r));
    }
  }

  void wait_for(const Path& p, uint32_t site, CallId caller, const Next& w) {
    const graph::Node& n = p.body.nodes[p.calls[site]];
    const SubGraph& callee = graphs_.of(n.index);
    const auto begin = static_cast<uint32_t>(operands_.size());
    for (size_t i = 0; i < callee.inputs.size(); ++i) {
      if (callee.inputs[i].kind != InputKind::Host) continue;
      if (p.is_item(graph::operand(n, i))) {
        operands_.resize(begin);
        forest_.frontier_.push_back({caller, site});
        return;
      }
      operands_.push_back(slots_[p.slot(graph::operand(n, i))]);
    }
    next_.push_back({n.index, caller, site, w.root, w.depth + 1, begin});
  }

  Forest& forest_;
  const SubGraphs& graphs_;
  const graph::HostFunction function_;
  std::vector<Next> next_;           // the last one comes first
  std::vector<HostValue> operands_;  // of those that come next
  std::vector<HostValue> slots_, args_, results_;
};

Forest::Forest(const SubGraphs& graphs, std::span<const std::vector<HostValue>> roots, uint32_t most_depth)
    : graphs_(&graphs), most_depth_(most_depth), paths_(graphs.size()) {
  for (GraphId id = 0; id < graphs.size(); ++id)
    if (graphs.has(id)) paths_[id].resize(graphs.of(id).paths.size());
  Walk(*this).run(roots);
}

void Forest::advance(const Item& item) {
  Walk walk(*this);
  const std::vector<Waiting> waiting = std::exchange(frontier_, {});
  for (const Waiting& w : waiting)
    if (!walk.run(w, item)) frontier_.push_back(w);
}

}  // namespace terra::recursive

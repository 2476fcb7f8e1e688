// Walks the tape from the roots to the leaves. No formulas here: nodes know their gradients.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/autograd/autograd.h"
#include "engine/autograd/batched_backward.h"
#include "engine/autograd/folded_node.h"
#include "engine/autograd/op_node.h"
#include "engine/autograd/pass.h"
#include "engine/autograd/sparse_gradients.h"
#include "engine/autograd/weight_products.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/emitter.h"
#include "engine/profile/scope.h"
#include "engine/tensor/sparse.h"
#include "engine/tensor/transfer.h"
#include "kernels/abi/exact_mode.h"

namespace terra::autograd {
namespace {

thread_local bool frees_saved = false;
class Pass;
thread_local const Pass* innermost = nullptr;
std::atomic<bool> nan_is_an_error = false;
std::atomic<int> whole_passes = 0;  // of all threads: over nodes that stand for several parts
thread_local int own_whole_passes = 0;

/// Whether the pass has made a sum itself, so that nobody else sees it change.
enum class Own : uint8_t {
  No,
  Sum,     ///< of whole gradients
  Places,  ///< and zeros, to which views have been added at their places
};

struct Waiting {
  std::vector<Tensor> grads;  // summed so far, one per result of the node
  std::vector<Own> own;
  std::vector<Tensor> first;  // of those: the part that views have been added to so far, as long as it is one
  int missing = 0;            // consumers that have not delivered yet
  bool wanted = true;         // lies on a path to something whose gradient was asked for
  bool met = false;           // on the way to what is wanted
  bool queued = false;        // has been ready
};

/// A gradient in the dtype of the result that it is for: nodes read its elements as such.
Tensor in_dtype_of_result(const Node& node, uint32_t result, const Tensor& g) {
  static const Op* to_dtype = find_op("to_dtype");
  const TensorMeta* const meta = g.defined() ? node.result_meta(result) : nullptr;
  return meta && meta->dtype != g.dtype() ? (*to_dtype)(g, meta->dtype) : g;
}

void fail_on_nan(const Node& node, const std::vector<Tensor>& gradients) {
  static const Op *isnan = find_op("isnan"), *any = find_op("any");
  const GradMode off(false);
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& g = gradients[i];
    if (!g.defined() || !is_inexact(g.dtype()) || g->is_symbolic() || is_foreign(*g) || g.device().is_meta()) continue;
    check(!*(*any)((*isnan)(g))->data_as<bool>(), "Function '{}' returned nan values in its {}th output.", node.name(),
          i);
  }
}

/// What a profile shows of a node, and of what the pass does for it.
profile::Subject subject_of(const Node& node, std::string_view before, const std::vector<Tensor>& grads = {}) {
  const std::string_view scope = node.edges.empty() ? "torch::autograd::" : "";
  profile::Subject subject{fmt::format("{}{}{}", before, scope, node.name())};
  if (profile::wants_shapes())
    for (const Tensor& g : grads) subject.shapes.push_back(g.defined() ? g.sizes() : Dims());
  return subject;
}
constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";

/// The node with the hooks that were put on it.
std::vector<Tensor> run_hooked(Node& node, std::vector<Tensor>& grads) {
  for (const auto& [id, hook] : std::vector(node.pre_hooks)) hook(grads);
  std::optional<DeviceScope> scope;  // for the tensors that a rule makes of nothing
  for (const Tensor& g : grads)
    if (g.defined() && g.device() != current_device() && !scope) scope.emplace(g.device());
  std::vector<Tensor> out;
  {
    const profile::Scope seen([&] { return subject_of(node, "", grads); });
    out = node.apply(grads);
  }
  scope.reset();
  if (nan_is_an_error.load(std::memory_order_relaxed)) [[unlikely]]
    fail_on_nan(node, out);
  for (const auto& [id, hook] : std::vector(node.post_hooks)) hook(out, grads);
  return out;
}

/// One backward pass. Nodes run when all their consumers have delivered, later calls first.
class Pass {
 public:
  Pass(bool retain_graph, bool create_graph) : retain_graph_(retain_graph), create_graph_(create_graph) {}

  /// The gradient of edge `i` of `captures` goes to results()[i] instead of being accumulated.
  void capture(std::vector<Edge> edges) {
    captures_ = std::move(edges);
    captured_.resize(captures_.size());
    selective_ = true;
  }
  /// The pass ends at these edges: what lies behind them, and the hooks there, are somebody else's.
  void end_at(std::span<const Edge> edges) {
    capture({edges.begin(), edges.end()});
    for (const Edge& e : captures_) ends_.insert(e.node.get());
  }
  const std::vector<Tensor>& results() const { return captured_; }
  int64_t number() const { return number_; }
  bool begins_histories() const { return create_graph_ && is_first_; }
  bool reaches(const Node* node) const {
    const auto found = waiting_.find(const_cast<Node*>(node));
    return found != waiting_.end() && found->second.wanted;
  }
  /// What comes to an edge that is captured goes no further.
  void stop_at_captures() { stops_ = true; }
  /// What is delivered for each of the edges that are captured shall be known.
  void keep_addends() { addends_.resize(captures_.size()); }
  const std::vector<std::vector<Tensor>>& addends() const { return addends_; }

  void run(const std::vector<Edge>& roots, const std::vector<Tensor>& grads) {
    struct UnderWay {
      explicit UnderWay(Pass* pass) : before(std::exchange(innermost, pass)) { pass->is_first_ = !before; }
      ~UnderWay() { innermost = before; }
      const Pass* const before;
    } const under_way(this);
    GradMode mode(create_graph_);
    for (const Edge& e : captures_)
      if (e.node && ends_.empty()) e.node->expose(e.index);
    count_consumers(roots);
    const bool apart = (create_graph_ ? FoldedNode::alive : PartedNodes::alive) > 0 && comes_apart(roots);
    const WholePass whole(PartedNodes::alive > 0 && !apart);
    if (selective_) mark_wanted(roots);
    for (size_t i = 0; i < roots.size(); ++i) deliver(roots[i], grads[i]);
    for (const Edge& root : roots)
      if (Waiting& w = waiting_[root.node.get()]; w.missing == 0) enqueue(root.node.get(), w);
    while (!ready_.empty() || !gathered_.empty()) {
      if (ready_.empty())
        visit_together(largest());
      else
        visit_first();
    }
  }

 private:
  struct Later {
    bool operator()(const Node* a, const Node* b) const {
      const bool leaf_a = a->edges.empty(), leaf_b = b->edges.empty();
      return leaf_a != leaf_b ? leaf_b : a->sequence < b->sequence;  // leaves first: frees gradients early
    }
  };

  /// Others may not take nodes apart meanwhile.
  struct WholePass {
    explicit WholePass(bool is_one) : counts(is_one ? 1 : 0) { count(counts); }
    ~WholePass() { count(-counts); }
    static void count(int passes) {
      own_whole_passes += passes;
      whole_passes += passes;
    }
    const int counts;
  };

  /// Where code of the program runs on the way, it may look at whatever passes; where gradients get a history, it is
  /// that of the single parts.
  bool comes_apart(const std::vector<Edge>& roots) {
    if (!create_graph_ && !any_runs_program()) return false;
    std::vector<Ref<Node>> nodes;
    for (const auto& [node, w] : waiting_)
      if (!ends_.count(node)) nodes.emplace_back(node);
    for (const Ref<Node>& node : nodes) node->come_apart();
    for (Edge& e : captures_)  // whose hooks have gone to the call
      if (Edge own = e.node && ends_.empty() ? e.node->unfolded(e.index) : Edge(); own.node) e = std::move(own);
    waiting_.clear();
    count_consumers(roots);
    return true;
  }

  void count_consumers(const std::vector<Edge>& roots) {
    std::pmr::vector<Node*> stack(&memory_);
    for (const Edge& root : roots)
      if (waiting_.try_emplace(root.node.get()).second) stack.push_back(root.node.get());
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      if (!ends_.empty() && ends_.count(node)) continue;
      for (const Edge& e : node->edges) {
        if (!e.node) continue;
        auto [it, fresh] = waiting_.try_emplace(e.node.get());
        ++it->second.missing;
        if (fresh) stack.push_back(e.node.get());
      }
    }
  }

  /// Whether what goes along the edge comes to something that was asked for.
  bool is_wanted(const Edge& e) {
    if (!e.node || !waiting_[e.node.get()].wanted) return false;
    if (wanted_results_.empty()) return true;
    const auto by_result = wanted_results_.find(e.node.get());
    return by_result == wanted_results_.end() || by_result->second[e.index];
  }

  void mark_wanted(const std::vector<Edge>& roots) {
    std::unordered_set<const Node*> targets;
    for (const Edge& e : captures_) targets.insert(e.node.get());
    for (Node* node : operands_first(roots)) {
      bool wanted = targets.count(node) > 0;
      for (const Edge& e : node->edges) wanted = wanted || is_wanted(e);
      waiting_[node].wanted = wanted;
      const auto* const folded = FoldedNode::alive > 0 ? dynamic_cast<const FoldedNode*>(node) : nullptr;
      if (!folded) continue;
      std::vector<bool> edges;
      for (const Edge& e : node->edges) edges.push_back(is_wanted(e));
      std::vector<bool>& results = wanted_results_[node] = folded->lead_to(edges);
      for (const Edge& e : captures_)
        if (e.node.get() == node) results[e.index] = true;
    }
  }

  /// The nodes of the pass, each behind those that its edges lead to. Their age doesn't say that: a node that stands
  /// for calls may have taken some since others began to use what it makes.
  std::pmr::vector<Node*> operands_first(const std::vector<Edge>& roots) {
    struct Visit {
      Node* node;
      size_t next;  // edge
    };
    std::pmr::vector<Node*> order(&memory_);
    std::pmr::vector<Visit> path(&memory_);
    order.reserve(waiting_.size());
    const auto meet = [&](Node* node) {
      const auto at = node ? waiting_.find(node) : waiting_.end();
      if (at != waiting_.end() && !std::exchange(at->second.met, true)) path.push_back({node, 0});
    };
    for (const Edge& root : roots) {
      for (meet(root.node.get()); !path.empty();) {
        auto& [node, next] = path.back();
        if (next < node->edges.size()) {
          meet(node->edges[next++].node.get());
        } else {
          order.push_back(node);
          path.pop_back();
        }
      }
    }
    return order;
  }

  /// Whether what the pass computes is a tensor of its own, without a history.
  bool makes_plainly() const { return !create_graph_ && &current_emitter() == &default_emitter(); }
  /// And whether nobody looks at the gradients of single nodes: sums may be made in other ways.
  bool only_sums_matter() const { return makes_plainly() && addends_.empty() && !nan_is_an_error.load(); }

  void deliver(const Edge& edge, const Tensor& made) {
    const Tensor g = in_dtype_of_result(*edge.node, edge.index, made);
    Waiting& w = waiting_[edge.node.get()];
    if (w.grads.empty()) w.grads.resize(edge.node->results);
    Tensor& sum = w.grads[edge.index];
    if (!g.defined()) return;
    if (!sum.defined())
      sum = g;
    else if (edge.index < w.own.size() && w.own[edge.index] != Own::No && !g->is_symbolic() && g.dtype() == sum.dtype())
      add_to(sum, g);
    else if (sum = sum_of(sum, g); makes_plainly() && !host_adds(*sum, *g) && !sum->is_symbolic()) {
      w.own.resize(edge.node->results);
      w.own[edge.index] = Own::Sum;
    }
    for (size_t i = 0; i < addends_.size(); ++i)
      if (captures_[i].node == edge.node && captures_[i].index == edge.index) addends_[i].push_back(g);
  }

  /// Whether the gradient of a view is added at its place in the operand's, rather than as a tensor of zeros around it:
  /// what `x.unbind()` costs is then what x holds, not that times its length.
  bool goes_to_place(const Node& node, const Tensor& g) {
    const TensorMeta* const whole = node.whole_meta();
    if (!whole || !node.edges[0].node || node.is_hooked() || !only_sums_matter()) return false;
    if (g.numel() == checked_numel(whole->sizes)) return false;
    const Edge& edge = node.edges[0];
    const TensorMeta* const wanted = edge.node->result_meta(edge.index);
    const auto fits = [&](const Tensor& t) {
      return !t->is_symbolic() && !is_foreign(*t) && t.dtype() == whole->dtype && t.device() == whole->device;
    };
    const Waiting& w = waiting_[edge.node.get()];
    const bool begun = !w.grads.empty() && w.grads[edge.index].defined();
    return fits(g) && (!begun || fits(w.grads[edge.index])) && (!wanted || wanted->dtype == whole->dtype);
  }

  void deliver_to_place(const Node& node, const Tensor& g) {
    static const Op *full = find_op("full"), *add = find_op("add"), *copy = find_op("copy");
    const Edge& edge = node.edges[0];
    const TensorMeta& whole = *node.whole_meta();
    Waiting& w = waiting_[edge.node.get()];
    w.grads.resize(edge.node->results);
    w.own.resize(edge.node->results);
    w.first.resize(edge.node->results);
    Tensor &sum = w.grads[edge.index], &first = w.first[edge.index];
    if (!sum.defined()) {
      const DeviceScope there(whole.device);
      sum = (*full)(whole.sizes, 0.0, whole.dtype);
      first = node.place_in(sum);
      copy->in_place(first, g);
    } else if (w.own[edge.index] != Own::Places) {
      const Tensor both = sum_of(node.place_in(sum), g);
      sum = (*add)(sum, 0.0);
      first = node.place_in(sum);
      copy->in_place(first, both);
    } else {
      Tensor place = node.place_in(sum);
      if (first.defined() &&
          !(place->offset == first->offset && place.sizes() == first.sizes() && place.strides() == first.strides())) {
        // The zeros around what views add are added as well: they make 0.0 of -0.0.
        const Tensor both = sum_of(place, g);
        add->in_place(first, 0.0);
        copy->in_place(place, both);
        first.reset();
      } else {
        add_to(place, g);
      }
    }
    w.own[edge.index] = Own::Places;
  }

  /// Where the node is a product with a weight that others use, too, leaves that gradient to `products_`.
  void put_off_product(Node& node, const Tensor& g) {
    if (node.edges.size() < 2 || !node.edges[1].node || !node.edges[1].node->edges.empty()) return;
    const Edge& weight = node.edges[1];
    if (waiting_[weight.node.get()].missing < 2 && !products_.has(weight.node.get())) return;
    if (!only_sums_matter() || exact_mode()) return;
    auto* const product = dynamic_cast<OpNode*>(&node);
    if (!product || !node.pre_hooks.empty() || !node.post_hooks.empty()) return;
    std::optional<WeightRows> rows = product->put_off_weight(g);
    if (rows && products_.add(weight, std::move(*rows))) deliver_product(weight.node.get());
  }

  void deliver_product(const Node* leaf) {
    Edge weight;
    const Tensor sum = products_.take(leaf, weight);
    deliver(weight, sum);
  }

  static bool runs_program(const Node& node) {
    return node.calls_program() || node.is_hooked() || !node.pre_hooks.empty() || !node.post_hooks.empty();
  }
  bool any_runs_program() {
    const auto runs_it = [](const auto& w) { return runs_program(*w.first); };
    if (!any_runs_program_) any_runs_program_ = std::any_of(waiting_.begin(), waiting_.end(), runs_it);
    return *any_runs_program_;
  }
  /// What a leaf adds to in place; undefined if it doesn't.
  static Tensor grown_by(const Node& node) {
    const auto* leaf = dynamic_cast<const AccumulateGrad*>(&node);
    const Meta* const meta = leaf ? find_meta(leaf->variable()) : nullptr;
    return meta ? meta->grad : Tensor();
  }

  /// Before what runs code of the program, and what adds to operands of products.
  void deliver_products_before(const Node& node) {
    if (products_.has(&node)) deliver_product(&node);
    const Tensor grown = grown_by(node);
    if (!runs_program(node) && !(grown.defined() && products_.lie_in(grown))) return;
    while (!products_.empty()) deliver_product(products_.any());
  }

  // ---- nodes that are applied together ----

  /// Nobody can tell in which order nodes are applied.
  bool any_order() {
    if (!any_order_) any_order_ = !selective_ && only_sums_matter() && !exact_mode() && !any_runs_program();
    return *any_order_;
  }

  /// True: it waits for others like it, while there is anything else to do.
  bool gather(Node* node) {
    BatchedBackward* const batch = node->batched();
    if (!batch || !any_order()) return false;
    const std::vector<Tensor>& grads = waiting_[node].grads;
    if (std::none_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); })) return false;
    auto at = std::find_if(gathered_.begin(), gathered_.end(), [&](const Gathered& g) { return g.batch == batch; });
    if (at == gathered_.end()) at = gathered_.insert(at, {batch, {}});
    at->nodes.emplace_back(node);
    return true;
  }

  size_t largest() const {
    const auto fewer = [](const Gathered& a, const Gathered& b) { return a.nodes.size() < b.nodes.size(); };
    return static_cast<size_t>(std::max_element(gathered_.begin(), gathered_.end(), fewer) - gathered_.begin());
  }

  /// Whether gradients that the node makes for a leaf can be products with those of others.
  bool shares_weight(const Node& node) {
    return std::any_of(node.edges.begin(), node.edges.end(), [&](const Edge& e) {
      return e.node && e.node->edges.empty() && (waiting_[e.node.get()].missing > 1 || products_.has(e.node.get()));
    });
  }

  void visit_together(size_t number) {
    const Gathered gathered = std::move(gathered_[number]);
    gathered_.erase(gathered_.begin() + static_cast<std::ptrdiff_t>(number));
    std::vector<Node*> nodes;
    for (const Ref<Node>& node : gathered.nodes) nodes.push_back(node.get());
    if (nodes.size() == 1 && !shares_weight(*nodes[0])) return visit(nodes[0]);
    const profile::Scope seen([&] { return subject_of(*nodes[0], kEvaluate); });
    std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->sequence > b->sequence; });
    std::vector<std::vector<Tensor>> grads;
    for (Node* node : nodes) {
      node->select(nullptr);
      grads.push_back(arrived_at(*node, waiting_[node]));
      if (any_sparse(grads.back())) grads.back() = to_dense(grads.back());
    }
    BatchedBackward::Made made;
    {
      const Freeing freeing(!retain_graph_);
      made = gathered.batch->apply(nodes, grads);
    }
    if (!retain_graph_)
      for (Node* node : nodes) node->release_saved();
    grads.clear();
    for (auto& [weight, rows] : made.products)
      if (products_.add(weight, std::move(rows))) deliver_product(weight.node.get());
    for (size_t n = 0; n < nodes.size(); ++n) {
      made.gradients[n].resize(nodes[n]->edges.size());
      hand_on(*nodes[n], made.gradients[n]);
    }
  }

  /// The gradients that waited for a node, whose turn has come.
  static std::vector<Tensor> arrived_at(const Node& node, Waiting& w) {
    std::vector<Tensor> grads = std::move(w.grads);
    w.first.clear();
    grads.resize(node.results);
    return grads;
  }

  void arrived(const Edge& edge) {
    if (Waiting& w = waiting_[edge.node.get()]; --w.missing == 0) enqueue(edge.node.get(), w);
  }

  void enqueue(Node* node, Waiting& w) {
    if (!std::exchange(w.queued, true)) ready_.push(node);
  }

  void take(const Node* node, const std::vector<Tensor>& grads) {
    for (size_t i = 0; i < captures_.size(); ++i)
      if (captures_[i].node.get() == node) captured_[i] = grads[captures_[i].index];
  }
  void stop(const Node* node, std::vector<Tensor>& grads) {
    for (const Edge& e : captures_)
      if (stops_ && e.node.get() == node) grads[e.index].reset();
  }

  struct Freeing {
    explicit Freeing(bool frees) : before(std::exchange(frees_saved, frees)) {}
    ~Freeing() { frees_saved = before; }
    const bool before;
  };

  std::vector<Tensor> applied(Node& node, std::vector<Tensor>& grads) const {
    const Freeing freeing(!retain_graph_);
    if (!node.edges.empty() && any_sparse(grads)) grads = to_dense(grads);  // leaves take them as they are
    return run_hooked(node, grads);
  }

  void visit(Node* node) {
    const Ref<Node> alive(node);
    const profile::Scope seen([&] { return subject_of(*node, kEvaluate); });
    if (!products_.empty()) deliver_products_before(*node);
    Waiting& w = waiting_[node];
    std::vector<Tensor> grads = arrived_at(*node, w);
    std::vector<bool> wanted;
    if (!ends_.empty() && ends_.count(node)) return take(node, grads);
    if (selective_)
      for (const Edge& e : node->edges) wanted.push_back(is_wanted(e));
    const bool deeper = !selective_ || std::find(wanted.begin(), wanted.end(), true) != wanted.end();
    // As PyTorch has it: what is asked for comes with its hooks where the pass ends there, and without where it goes
    // on.
    if (deeper) take(node, grads);
    if (w.wanted) node->hook_gradients(grads);
    if (!deeper) take(node, grads);
    stop(node, grads);
    std::vector<Tensor> out;
    const bool any = std::any_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); });
    if (any && deeper && goes_to_place(*node, grads[0])) {
      deliver_to_place(*node, grads[0]);
      arrived(node->edges[0]);
      return;
    }
    if (any && deeper) {
      node->select(selective_ ? &wanted : nullptr);
      put_off_product(*node, grads[0]);
      out = applied(*node, grads);
      if (!retain_graph_) node->release_saved();
    }
    out.resize(node->edges.size());
    grads.clear();
    hand_on(*node, out);
  }

  void visit_first() {
    Node* node = ready_.top();
    if (!gathered_.empty() && grown_by(*node).defined()) return visit_together(largest());  // they may read it
    ready_.pop();
    if (!gather(node)) visit(node);
  }

  void hand_on(Node& node, std::vector<Tensor>& out) {
    const std::vector<uint32_t> turns = out.size() > 1 ? node.turns() : std::vector<uint32_t>();
    std::vector<uint32_t> order(turns.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return turns[a] < turns[b]; });
    for (size_t k = 0; k < out.size(); ++k) {
      const size_t i = turns.empty() ? k : order[k];
      if (!turns.empty() && k > 0 && turns[i] != turns[order[k - 1]])
        while (!ready_.empty() && ready_.top()->edges.empty()) visit_first();
      const Edge& e = node.edges[i];
      if (!e.node) continue;
      deliver(e, out[i]);
      out[i].reset();
      arrived(e);
    }
  }

  static int64_t next_number() {
    static std::atomic<int64_t> last = -1;
    return ++last;
  }

  const bool retain_graph_, create_graph_;
  const int64_t number_ = next_number();
  bool selective_ = false, stops_ = false, is_first_ = true;
  std::vector<Edge> captures_;
  std::unordered_set<const Node*> ends_;
  std::unordered_map<const Node*, std::vector<bool>> wanted_results_;  // of nodes that stand for calls
  std::vector<Tensor> captured_;
  std::vector<std::vector<Tensor>> addends_;
  WeightProducts products_;
  struct Gathered {
    BatchedBackward* batch;
    std::vector<Ref<Node>> nodes;
  };
  std::vector<Gathered> gathered_;
  std::optional<bool> any_order_, any_runs_program_;  // asked for when they first matter
  // A small graph needs no memory but this.
  std::array<std::byte, 4096> first_memory_;
  std::pmr::monotonic_buffer_resource memory_{first_memory_.data(), first_memory_.size()};
  std::pmr::unordered_map<Node*, Waiting> waiting_{&memory_};
  std::priority_queue<Node*, std::pmr::vector<Node*>, Later> ready_{Later(), std::pmr::vector<Node*>(&memory_)};
};

/// Edges and gradients of the roots, with PyTorch's checks.
void prepare_roots(std::span<const Tensor> roots, std::span<const Tensor> given, std::vector<Edge>& edges,
                   std::vector<Tensor>& grads) {
  static const Op* full = find_op("full");
  // Work that is put off may change what histories lead to, those of tensors that there are.
  const auto is_symbolic = [](const Tensor& root) { return root->is_symbolic(); };
  Deferral* const work = deferred_work();
  if (work && !std::all_of(roots.begin(), roots.end(), is_symbolic)) work->before_pass();
  for (size_t i = 0; i < roots.size(); ++i) {
    const Tensor& root = roots[i];
    check(root.requires_grad(), "element {} of tensors does not require grad and does not have a grad_fn", i);
    const Tensor g = i < given.size() ? given[i] : Tensor();
    if (g.defined()) {
      check(g.sizes() == root.sizes(),
            "Mismatch in shape: grad_output[{}] has a shape of torch.Size({}) and output[{}] has a shape of "
            "torch.Size({}).",
            i, listed(g.sizes()), i, listed(root.sizes()));
      check((!is_complex(g.dtype()) && !is_complex(root.dtype())) || g.dtype() == root.dtype(),
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            "grad_output[{}] has a dtype of torch.{} and output[{}] has a dtype of torch.{}.",
            i, name_of(g.dtype()), i, name_of(root.dtype()));
      check(g.device() == root.device() || g.rank() == 0,
            "invalid gradient at index {} - expected device {} but got {}", i, to_string(root.device()),
            to_string(g.device()));
      grads.push_back(moved_to(g, root.device()));
    } else {
      check(root.numel() == 1, "grad can be implicitly created only for scalar outputs");
      check(!is_complex(root.dtype()), "grad can be implicitly created only for real scalar outputs but got torch.{}",
            name_of(root.dtype()));
      const DeviceScope scope(root.device());
      grads.push_back((*full)(root.sizes(), 1.0, root.dtype()));
    }
    edges.push_back(gradient_edge(root));
    check(edges.back().node.get(), "element {} of tensors does not require grad and does not have a grad_fn", i);
  }
}

}  // namespace

bool pass_under_way() { return innermost != nullptr; }

int64_t pass_number() { return innermost ? innermost->number() : -1; }

bool pass_reaches(const Tensor& t) {
  return innermost &&
         (innermost->reaches(own_gradient_edge(t).node.get()) || innermost->reaches(gradient_edge(t).node.get()));
}

bool pass_begins_histories() { return innermost && innermost->begins_histories(); }

bool pass_frees() { return frees_saved; }

bool others_pass_whole() { return whole_passes > own_whole_passes; }

void check_for_nan(bool yes) { nan_is_an_error = yes; }

void backward(std::span<const Tensor> roots, std::span<const Tensor> root_gradients, bool retain_graph,
              bool create_graph, std::span<const Tensor> inputs) {
  if (!inputs.empty()) {
    for (const Tensor& t : inputs)
      if (!is_leaf(t)) retain_grad(t);
    const std::vector<Tensor> g = gradients(roots, root_gradients, inputs, retain_graph, create_graph, true);
    GradMode mode(create_graph);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!g[i].defined() || !is_leaf(inputs[i])) continue;
      std::vector<Tensor> grads{g[i]};
      run_hooked(*gradient_edge(inputs[i]).node, grads);
    }
    return;
  }
  std::vector<Edge> edges;
  std::vector<Tensor> grads;
  prepare_roots(roots, root_gradients, edges, grads);
  Pass(retain_graph, create_graph).run(edges, std::exchange(grads, {}));
}

std::vector<Tensor> gradients(std::span<const Tensor> roots, std::span<const Tensor> root_gradients,
                              std::span<const Tensor> inputs, bool retain_graph, bool create_graph, bool allow_unused) {
  std::vector<Edge> edges, wanted;
  std::vector<Tensor> grads;
  prepare_roots(roots, root_gradients, edges, grads);
  for (const Tensor& input : inputs) {
    check(input.requires_grad(), "One of the differentiated Tensors does not require grad");
    wanted.push_back(own_gradient_edge(input));
  }
  Pass pass(retain_graph, create_graph);
  pass.capture(wanted);
  pass.run(edges, grads);
  std::vector<Tensor> out = pass.results();
  for (size_t i = 0; i < out.size(); ++i)
    check(out[i].defined() || allow_unused,
          "The differentiated Tensor at index {} appears to not have been used in the graph. Set allow_unused=True if "
          "this is the desired behavior.",
          i);
  return out;
}

std::vector<Tensor> gradients_at(std::span<const Tensor> roots, std::span<const Tensor> root_gradients,
                                 std::span<const Edge> ends, bool retain_graph, bool create_graph) {
  std::vector<Edge> edges;
  std::vector<Tensor> grads;
  prepare_roots(roots, root_gradients, edges, grads);
  Pass pass(retain_graph, create_graph);
  pass.end_at(ends);
  pass.run(edges, grads);
  return pass.results();
}

std::vector<std::vector<Tensor>> delivered(std::span<const Tensor> roots, std::span<const Tensor> root_gradients,
                                           std::span<const Tensor> inputs, bool create_graph, bool apart) {
  std::vector<Edge> edges, wanted;
  std::vector<Tensor> grads;
  prepare_roots(roots, root_gradients, edges, grads);
  for (const Tensor& input : inputs) wanted.push_back(own_gradient_edge(input));
  Pass pass(true, create_graph);
  pass.capture(wanted);
  pass.stop_at_captures();
  if (apart) pass.keep_addends();
  pass.run(edges, grads);
  std::vector<std::vector<Tensor>> out = pass.addends();
  out.resize(wanted.size());
  for (size_t i = 0; i < out.size(); ++i)
    if (pass.results()[i].defined() && (!apart || wanted[i].node->is_hooked())) out[i] = {pass.results()[i]};
  return out;
}

}  // namespace terra::autograd

// The nodes of the tape that a run of a pair leaves behind.
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/autograd/folded_node.h"
#include "engine/autograd/pass.h"
#include "engine/autograd/saved.h"
#include "engine/random/generator.h"
#include "engine/tensor/epoch.h"
#include "graph/cache/halves.h"
#include "graph/cache/pair_batch.h"

namespace terra::graph {

/// What all parts of one run share: what it takes to compute the region again.
struct RunPast {
  /// Before the run. `saved_inputs`: as PairPrograms has them.
  RunPast(std::span<const Scalar> s, const Program& p, const std::vector<uint32_t>& saved_inputs);

  /// Copies of what the run is about to write, with the history that it had.
  void keep_written(const std::vector<Tensor>& given, const Program& p);
  /// After the commit.
  void keep_inputs(const std::vector<Tensor>& given);
  /// One part fewer computes from the inputs. Where they came from stays.
  void leave_inputs();
  /// Whether an input is no longer what the run has read: by a write of any kind, also one that counts no version, or
  /// since a leaf has other memory.
  bool is_written(size_t input) const { return has_other_bytes(input) || inputs[input].tensor.was_moved(); }
  /// The same of the memory that the run has read.
  bool has_other_bytes(size_t input) const {
    const Tensor& t = inputs[input].tensor.unchecked();
    return t.defined() && !wrote(input) && t->storage->writes() != inputs[input].writes;
  }
  /// What the run has read, without a history. Undefined: it is written.
  Tensor as_read(size_t input) const {
    return has_other_bytes(input) ? Tensor() : inputs[input].tensor.unchecked().alias();
  }
  /// The run itself has written the input: `old` has what it was.
  bool wrote(size_t input) const { return !old.empty() && old[input].defined(); }
  /// Of those that calls have saved: these read a leaf as it is by now, others what they have computed from it as it
  /// was. The halves divide that otherwise.
  bool is_any_saved_moved() const {
    return epoch_ != tensor_epoch && std::any_of(saved_inputs_.begin(), saved_inputs_.end(),
                                                 [&](uint32_t i) { return inputs[i].tensor.was_moved(); });
  }
  bool is_any_written() const {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (is_written(i)) return true;
    return false;
  }

  struct Input {
    Input(const Tensor& t, uint32_t w) : tensor(t, false), writes(w) {}
    autograd::SavedTensor tensor;
    uint32_t writes;  ///< how often its bytes had been written behind the run
  };
  std::vector<Input> inputs;
  std::vector<Tensor> old;  ///< by input: as it was before the run wrote it; undefined for others. Empty: it wrote none
  bool writes_views = false;  ///< among those are views with a history, which is their base's by now
  std::vector<Scalar> scalars;
  std::vector<RandomState> random;  ///< before the run, of the program's generators
  uint32_t parts = 0;               ///< that may still compute from the inputs

 private:
  const std::vector<uint32_t>& saved_inputs_;
  uint64_t epoch_ = tensor_epoch;
};

class ResultNode;

/// The gradient of one part of one run: from the gradients of its roots to those of its targets. Where they arrive
/// for the roots that were expected, the backward half computes them; for others, and where the gradients are to be
/// differentiated in turn, the region is computed again by a program of its own. For programs that look at what lies
/// behind a result, or put hooks there, its calls are made again, and have nodes of their own.
class PairNode final : public autograd::FoldedNode {
 public:
  /// The edges are the maker's affair: lead().
  PairNode(std::shared_ptr<PairPrograms> shared, Halves& halves, uint32_t part, const Choice& choice,
           std::shared_ptr<RunPast> past);
  ~PairNode() override { leave_inputs(); }

  /// An edge for each addend of what it hands on: `edge_to` says where those of a target go.
  template <class EdgeTo>
  void lead(const EdgeTo& edge_to) {
    edges.reserve(first_edges().back());
    for (size_t j = 0; j < part().targets.size(); ++j) edges.resize(first_edges()[j + 1], edge_to(part().targets[j]));
  }
  /// After the commit: keeps what the backward half reads.
  void save(const std::vector<Tensor>& inputs, const Runner::Made& made);

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override;
  void select(const std::vector<bool>* wanted) override;
  autograd::BatchedBackward* batched() override {
    return backward_.batch->pays() && !unfolded_ ? backward_.batch.get() : nullptr;
  }
  bool calls_program() const override { return false; }
  /// Gradients for it can be computed with those of other runs: by input of the backward half, what it reads there.
  /// False: they can't, and nothing has happened.
  bool join_batch(const std::vector<Tensor>& grads, std::vector<Tensor>& inputs);
  /// By gradient of the backward half: the edge that it goes along.
  std::vector<uint32_t> edges_of_gradients() const { return edges_of(backward_.program.gradients); }
  std::string name() const override { return name_of(0); }
  const std::string& name_of(uint32_t i) const { return root(i).grad_fn; }
  void expose(uint32_t i) override {
    if (part_ == PairParts::kAll && shared_->parts.inside()[i]) come_apart();
  }
  void come_apart() override;
  const TensorMeta* result_meta(uint32_t i) const override { return &root(i).meta; }
  bool expects(uint32_t i) const { return choice_[i] && !unfolded_; }
  std::vector<uint32_t> turns() const override;
  std::vector<bool> lead_to(const std::vector<bool>& edges_wanted) const override;
  /// Frees for those results that the last backward came from. What others need stays until they can't be used either.
  void release_saved() override;
  bool released() const override { return !unfolded_ && std::find(spent_.begin(), spent_.end(), true) != spent_.end(); }

  /// A node of the root alone hands its gradient on to this one; null: no more.
  void stand_behind(ResultNode* result, uint32_t i) {
    results_of_.resize(results);
    results_of_[i] = result;
  }
  /// Unfolded, and a gradient of this root alone passes.
  void pass_alone(uint32_t i) {
    last_.assign(results, false);
    last_[i] = true;
    require_unmodified(last_);
  }
  /// The node of the call that made the root with that number among those of the part.
  Ref<Node> last_call(uint32_t i) {
    const Ref<Node> self(this);
    come_apart();
    if (!apart_.empty()) return part_of(i).last_call(root(i).place);
    return unfold() ? edges[i].node : Ref<Node>();
  }
  Ref<Node> last_call() override { return roots().size() == 1 ? last_call(0) : Ref<Node>(); }
  /// Of a root that stays inside, which no tensor shows.
  autograd::Edge unfolded(uint32_t i) override {
    const bool of_call = calls_have_histories_ || (root(i).spec == ProgramRoot::kInside && unfold());
    return of_call ? edges[i] : autograd::Edge();
  }

 private:
  /// Memory that a saving call has saved, and how often it had been written by then.
  struct Watched {
    Ref<Storage> storage;
    uint32_t version, call;
    const SavedMemory* what;
  };

  const ProgramPart& part() const { return shared_->parts[part_]; }
  const std::vector<uint32_t>& roots() const { return part().roots; }
  const std::vector<uint32_t>& first_edges() const { return shared_->parts.first_edges(part_); }
  const autograd::Edge& edge_to(size_t target) const { return edges[first_edges()[target]]; }
  /// Where gradients go that come to a root.
  autograd::Edge edge_of_root(uint32_t k);
  const ProgramRoot& root(size_t k) const { return shared_->parts.roots[roots()[k]]; }
  const PartWays& ways() const { return part().ways; }
  const std::vector<SavingCalls>& saving() const { return ways().saving; }

  static bool meet(const std::vector<bool>& a, const std::vector<bool>& b) {
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] && b[i]) return true;
    return false;
  }
  bool any_wanted(const std::vector<bool>& targets) const {
    return wanted_.empty() ? std::find(targets.begin(), targets.end(), true) != targets.end() : meet(targets, wanted_);
  }
  /// Whether gradients of these roots pass the calls on their way to what is wanted.
  bool passes(const SavingCalls& calls, const Choice& given) const {
    return meet(calls.roots, given) && any_wanted(calls.targets);
  }
  /// Whether they come to something wanted.
  bool arrives(const Choice& given) const {
    for (size_t k = 0; k < given.size(); ++k)
      if (given[k] && any_wanted(ways().leads[k])) return true;
    return false;
  }

  /// Which calls will be, when a pass that frees what it passes has come from these roots.
  std::vector<bool> spent_after(const Choice& given) const;
  /// No root has a way left: all of it is spent, or some of it after passes that want everything.
  bool all_useless(const std::vector<bool>& spent_calls, bool selected) const;
  void require_unspent(const Choice& given) const;
  /// Whether gradients for these roots can be computed from what is saved, which may be for others as well. In exact
  /// mode that is not bit by bit what single calls make: only where they can't be made again.
  bool is_saved_for(const Choice& given) const;
  std::vector<uint32_t> numbers_of(const Choice& given) const;
  std::vector<uint32_t> edges_of(const std::vector<Program::Gradient>& gradients) const;
  /// Nobody has written what calls on the way have saved.
  void require_unmodified(const Choice& given) const;
  [[noreturn]] void fail_modified(const Watched& w) const;
  /// What is saved is freed after it whatever becomes of it, so that it may be used up.
  bool is_last_pass(const Choice& given) const;
  void expect(const Choice& given);
  /// False where the backward half can't run in this process, or what it reads has been used up. A run that was
  /// overtaken, or had to wait for another thread's, starts from what is saved by then: that complains if it was
  /// written, or is gone.
  bool run_backward(Runner& backward, const Choice& given, std::span<const Tensor> tangents, Runner::Made& made);
  std::vector<Tensor> apply_again(const std::vector<Tensor>& grads, const Choice& given);
  /// The same where leaves among the inputs have other memory since: over calls that are made again from what the run
  /// has read, of which those leaves are saved as they are now. Nothing: the calls can't be made again.
  std::optional<std::vector<Tensor>> apply_calls(const std::vector<Tensor>& grads) const;

  // ---- part by part ----

  /// Nodes of the parts, which share what this one has saved. Their edges to results lead to each other.
  std::vector<Ref<PairNode>> nodes_of_parts() const;
  PairNode& part_of(uint32_t i) const { return *apart_[root(i).part]; }
  /// Keeps of what the node of all parts has saved what its own part reads.
  void share_saved(const PairNode& all);
  std::vector<Tensor> apply_parts(const std::vector<Tensor>& grads) const;

  void leave_inputs() {
    if (std::exchange(reads_inputs_, false)) past_->leave_inputs();
  }

  // ---- call by call ----

  /// From here on gradients go to the nodes of the calls. Not while gradients flow: who leads where is settled then.
  /// False where the calls can't be made again.
  bool unfold() { return unfolded_ || (!autograd::pass_under_way() && unfold_now()); }
  bool unfold_now();
  /// A pass is about to give gradients a history, which is that of calls made again.
  void unfold_for_histories();
  /// Whether the calls can be made again, if their inputs are known.
  bool is_repeatable_part() const;
  void place_results();
  /// The histories of the roots, by nodes of their calls. What is freed can't be computed from again: then the calls
  /// get zeros, and their nodes are as spent as those of the first time would be.
  std::optional<std::vector<autograd::Edge>> call_again() const;

  std::shared_ptr<PairPrograms> shared_;
  Halves& halves_;  ///< of shared_
  const uint32_t part_;
  Halves::Backward& backward_;
  Choice choice_, last_;      ///< of the part's roots
  std::vector<bool> wanted_;  ///< of its targets, by the pass that is under way; empty: all of them
  std::vector<bool> spent_;   ///< of its saving calls
  bool selected_ = false;     ///< passes that want some targets only have freed what they passed
  bool freed_ = false;
  bool reads_inputs_ = true;
  bool consumed_ = false;                ///< a run of the backward half has used up what was saved for it
  bool unfolded_ = false;                ///< gradients are handed on to the nodes of the calls, by root
  bool calls_have_histories_ = false;    ///< and come to these also by other ways
  std::vector<Ref<PairNode>> apart_;     ///< gradients are handed on to these nodes of the parts
  std::vector<ResultNode*> results_of_;  ///< by root; null: it has none, or it is gone
  std::vector<autograd::SavedTensor> saved_;
  std::vector<Watched> watched_;
  std::vector<Scalar> saved_scalars_;
  const std::shared_ptr<RunPast> past_;
  std::optional<autograd::PartedNodes> parted_;  ///< where it stands for all parts
};

/// Gives a result the name of its own op's node, and its hooks a place, where its part has several roots.
class ResultNode final : public autograd::Node {
 public:
  ResultNode(Ref<PairNode> pair, uint32_t index) : pair_(std::move(pair)), index_(index) {
    edges.push_back({Ref<autograd::Node>(pair_.get()), index});
    pair_->stand_behind(this, index);
  }
  ~ResultNode() override { pair_->stand_behind(nullptr, index_); }

  void expose(uint32_t) override { pair_->expose(index_); }
  /// Goes over to the node of its part.
  void stand_before(Ref<PairNode> part, uint32_t i);

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override {
    if (is_unfolded()) pair_->pass_alone(index_);
    return grads;
  }
  void release_saved() override {
    if (is_unfolded()) pair_->release_saved();
  }
  std::string name() const override { return pair_->name_of(index_); }
  bool calls_program() const override { return false; }
  const TensorMeta* result_meta(uint32_t) const override { return pair_->result_meta(index_); }
  autograd::Edge unfolded(uint32_t) override { return pair_->unfolded(index_); }
  Ref<Node> last_call() override { return pair_->last_call(index_); }

  /// The call has a node of its own: gradients come here when they would come to that one.
  void hand_on_to(const autograd::Edge& own) {
    edges[0] = own;
    sequence = own.node->sequence + 1;
  }

 private:
  bool is_unfolded() const { return edges[0].node.get() != pair_.get(); }

  Ref<PairNode> pair_;
  uint32_t index_;
};

}  // namespace terra::graph

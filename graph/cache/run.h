// One execution of a program on real tensors.
#pragma once
#include <memory>

#include "graph/cache/compiled.h"
#include "graph/cache/releasable.h"
#include "graph/cache/release.h"
#include "graph/executor/activation.h"
#include "graph/trace/program.h"

namespace terra::graph {

/// A program and the instance that runs it.
class Runner {
 public:
  /// `consumable`, by tensor of a run's inputs, where there are any: a run may take its memory from it
  /// (Made::consumes).
  explicit Runner(Program program, const std::vector<bool>& consumable = {});

  /// What a run made, before anything is published.
  struct Made {
    std::vector<Tensor> tensors;                           ///< by spec
    std::vector<Ref<Storage>> storages;                    ///< by graph output; null where not fresh
    std::vector<std::pair<Ref<Storage>, uint32_t>> apart;  ///< what x.data gave, and how often it was written
    std::vector<Tensor> replaced;  ///< gradients that were; dropping them can run code of the program
    bool stands = false;           ///< nobody will refuse the run at its commit
    bool consumes = false;         ///< what is consumable and nobody else has may go; such a run isn't repeated

    void clear() {
      tensors.clear();
      storages.clear();
      apart.clear();
      replaced.clear();
      stands = consumes = false;
    }
  };

  /// Binds inputs (all real), runs the body and, if `before_commit` agrees, the tail. On anything but Done nothing has
  /// changed, random state included. `poll` and `release` may be null.
  RunResult run(LentTensors inputs, std::span<const Scalar> scalars, std::span<const Tensor> tangents, bool (*poll)(),
                const std::function<bool()>& before_commit, Made& made, Release* release = nullptr,
                const SameTensors& same = {});

  /// After Done: versions, gradients and flags of the program's tensors. Doesn't fail.
  void publish(LentTensors inputs, Made& made);
  /// When all results have their histories: computed tensors keep their gradients where the program asked for that.
  void retain_gradients(const Made& made);
  /// The results of the program. They leave `made`, unless something is still to be published about its tensors.
  void collect(Made& made, std::vector<RunOutput>& outputs) const;

  /// Whether the graph depends on what is in that tensor (by number among the tensors of the run's inputs).
  bool reads(uint32_t tensor) const;
  /// After Done: the scalar that graph input or output `index` holds.
  const Scalar& scalar_output(size_t index) const { return activation_.scalar(graph().outputs[index]); }
  const Scalar& scalar_input(size_t index) const { return activation_.scalar(graph().inputs[index]); }

  const Program& program() const { return program_; }
  const Graph& graph() const { return instance_.plan().graph; }
  Footprint footprint() const;
  double first_run_ms() const { return tempo_.first_excess() * 1e-6; }

 private:
  /// Inputs that were bound: they need not be again while the same tensors come and none has changed.
  struct Bound {
    uint64_t token = 0, epoch = 0;
    bool holds(const SameTensors& same) const;
  };

  static Plan plan(const Program& program, const std::vector<bool>& consumable);
  std::vector<TensorImpl*> consumed(LentTensors inputs) const;
  void bind_inputs(LentTensors inputs, std::span<const Scalar> scalars, std::span<const Tensor> tangents,
                   const SameTensors& same);
  bool stays(const InputBinding& in, const SameTensors& same) const;
  void check_originals(const SameTensors& same);
  void bind_input(size_t input, LentTensors inputs, std::span<const Scalar> scalars, std::span<const Tensor> tangents);
  void* input_address(LentTensors inputs, size_t input) const;
  void make_tensors(LentTensors inputs, Made& made) const;
  void give_spent_histories(LentTensors inputs) const;
  uint32_t versions(uint32_t straight, const std::vector<LoopedWrites>& looped) const;
  bool is_to_be_released(LentTensors inputs, const Release* release);
  /// False: it was overtaken. The random numbers of a run that wasn't stopped are in their generators now.
  bool run_released(LentTensors inputs, std::span<const Tensor> tangents, bool (*poll)(), Release& release, Made& made,
                    Stop& stop);
  bool writes_exported(LentTensors inputs) const;
  /// Of what `releasable_` says; they have to live as long as the body runs.
  std::vector<Ref<Storage>> bind_copies(LentTensors inputs);
  Stop run_timed(bool (*poll)(), Made& made, bool lasting);
  void note_uses();
  void find_heirs();
  size_t bytes_of_output(size_t output) const;
  class Inheritance;

  Program program_;  ///< its graph has moved into the instance's plan
  Instance instance_;
  RootActivation activation_;
  bool results_move_;            ///< each result is a tensor of its own that nothing else is asked of
  std::vector<bool> read_;       ///< by graph input: something uses it
  std::vector<uint32_t> views_;  ///< results that are views of others
  /// A fresh output that becomes the gradient of an input.
  struct Heir {
    uint32_t tensor = 0;  ///< of the run's inputs
    uint32_t output = 0;
    uint32_t spec = 0;
  };
  bool only_views_ = false;             ///< it reads no bytes and makes none: its results are views of its inputs
  std::vector<Heir> heirs_;             ///< large ones, made where nothing stops the run any more
  std::vector<bool> asks_for_, shows_;  ///< by tensor of the run's inputs: it is read; it is looked at after the run
  std::vector<uint32_t> spent_inputs_;  ///< specs of inputs that get a history which is spent
  Bound bound_;                         ///< the inputs
  std::vector<uint32_t> rebound_;       ///< of them, those that are bound at each run all the same
  Bound bound_originals_;               ///< what would have been, of those that runs on copies are to stand for
  std::vector<void*> originals_;        ///< their addresses
  const Releasable releasable_;
  Tempo tempo_;
  Flight flight_;
};

/// The function set by set_interrupt_poll, or null.
bool (*interrupt_poll())();

/// While it lives no run is interrupted: for runs inside what can't be repeated.
class UninterruptedRun {
 public:
  UninterruptedRun();
  ~UninterruptedRun();
  UninterruptedRun(const UninterruptedRun&) = delete;

 private:
  bool (*poll_)();
};

}  // namespace terra::graph

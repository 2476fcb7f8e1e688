// A trace made runnable: what the tiers above ask of the graph library.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "graph/cache/release.h"
#include "graph/trace/trace.h"

namespace terra::graph {

/// How a run ended. Anything but Done has published nothing: no tensor, .grad, version or random state has changed.
/// Busy: the graph fits, but doesn't serve this run, and one made anew would do no better. Overtaken: another thread
/// has changed what the run rested on. UnderWay: another thread's run of it is on its way (release.h).
enum class RunStatus : uint8_t { Done, AssertFailed, Interrupted, Refused, Busy, Overtaken, UnderWay };

struct RunResult {
  RunStatus status = RunStatus::Done;
  uint32_t failed_assert = 0;  ///< AssertFailed: which assert, in order of the trace
};

using RunOutput = std::variant<Tensor, Scalar>;

/// What a lender knows of the tensors that it lends: in every place but `others` they are the same ones at each run
/// with this token. What they view may have changed all the same: tensor_epoch (engine/tensor/epoch.h) tells of that.
/// No token: nothing.
struct SameTensors {
  uint64_t token = 0;
  std::span<const uint32_t> others;
  /// Where the run gets copies: the tensors that they are of. A run on these would have to find each where it binds it,
  /// or the run throws InternalError.
  LentTensors originals = {};
};

/// Memory of a graph, in bytes.
struct Footprint {
  size_t run = 0;        ///< the most that a run takes from the allocator at one time, results included
  size_t kept = 0;       ///< working memory that is kept from one run to the next
  size_t constants = 0;  ///< tensors that the graph was made with
  size_t saved = 0;      ///< what a run keeps for its backward, besides tensors of the program

  size_t between_runs() const { return kept + constants; }
  /// Of graphs of which one runs at a time.
  Footprint& operator+=(const Footprint& other);
};

/// Thread-safe to share; runs begin and end under the host's lock (the interpreter's).
class Compiled {
 public:
  virtual ~Compiled() = default;

  /// Runs on real tensors and scalars, in the order of the trace's inputs. From the commit on, tensors that only this
  /// run keeps from dying may be gone (a gradient that is replaced can take the program's own objects with it).
  /// `before_commit` is called when everything has been computed, `outputs` are filled in and nothing is published;
  /// returning false refuses the run. After it nothing fails: storages of inputs are written and their versions bumped,
  /// gradients of leaf inputs that were accumulated in place included. `outputs` follow Trace::outputs; those that
  /// require grad carry one autograd node for the whole run. Outputs that alias an input or each other are views as
  /// eager would have made. Throws Error for what the ops themselves refuse (index out of range, memory), nothing
  /// published. A long run with a `release` lets other threads go on while it computes.
  virtual RunResult run(LentTensors inputs, std::span<const Scalar> scalars, const std::function<bool()>& before_commit,
                        std::vector<RunOutput>& outputs, Release* release = nullptr, const SameTensors& same = {}) = 0;

  /// Whether a run depends on what is in that tensor (by number among the tensors of its inputs).
  virtual bool reads(uint32_t) const { return true; }

  /// The optimized graph as text that parses back.
  virtual std::string text() const = 0;
  virtual size_t node_count() const = 0;
  /// User-level calls that one run stands for (composites count one).
  virtual size_t call_count() const = 0;
  /// Generators that a run draws from; null stands for the default one.
  virtual const std::vector<Generator*>& generators() const = 0;
  /// Results of a run may require grad: what it computes is half of the work.
  virtual bool has_backward() const { return false; }
  virtual Footprint footprint() const = 0;
  /// What first runs took beyond later ones, in milliseconds: memory that they touched first, plans that kernels made.
  virtual double first_run_ms() const = 0;
  /// How many instances, each for its own sizes and structural numbers, are ready.
  virtual size_t instances() const { return 1; }
  /// Why the run was Refused or Busy before anything was computed; empty where `before_commit` refused it.
  virtual std::string refusal() const { return {}; }
};

/// Builds, optimizes and plans, for the sizes of the recorded run; other sizes, where the trace leaves them free, and
/// other structural numbers get instances of their own when they are first met (shaped.h): then a run is Refused where
/// the trace can't be replayed for them. Throws InternalError when the trace can't be expressed; the message says why.
std::shared_ptr<Compiled> compile(const Trace& trace);

/// Asked between nodes on the thread that runs: returning true abandons the run before its commit point (Ctrl-C).
void set_interrupt_poll(bool (*poll)());

}  // namespace terra::graph

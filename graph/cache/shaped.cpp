#include "graph/cache/shaped.h"

#include <algorithm>
#include <bit>
#include <map>

#include "engine/eager/thread_time.h"
#include "engine/errors/errors.h"
#include "graph/cache/build_policy.h"
#include "graph/cache/pair.h"

namespace terra::graph {
namespace {

/// Ragged data comes in a few dozen sizes (lengths rounded to a bucket, a last batch); what comes in more is better
/// padded by the program.
constexpr size_t kMostInstances = 64;
/// Beyond this, instances that haven't run lately go, with their constants and what they keep between runs.
constexpr size_t kMostBytes = size_t{1} << 30;
/// Building costs about as much as ten eager runs: from so many builds on, most runs must find their instance, or new
/// sizes are refused and the program runs plainly. Refused runs count little, so that a program whose sizes settle
/// down is served again.
constexpr size_t kMostMet = 1024;  ///< sizes without an instance that are remembered
constexpr uint64_t kFreeBuilds = 64;
constexpr uint64_t kRefusedPerRun = 16;

/// Where the numbers of an instance's key come from.
struct KeySource {
  uint32_t trace_input;
  uint32_t number;    ///< among the run's tensors or scalars
  bool whole_layout;  ///< strides and offset too: other inputs share the storage, or the elements aren't contiguous
};

class Shaped final : public Compiled {
 public:
  Shaped(std::shared_ptr<const Trace> trace, std::shared_ptr<Compiled> recorded) : trace_(std::move(trace)) {
    std::map<uint32_t, int> shared;
    for (const TraceInput& in : trace_->inputs)
      if (in.kind == TraceInput::Kind::Tensor) ++shared[in.storage_group];
    uint32_t tensor = 0, scalar = 0;
    for (uint32_t i = 0; i < trace_->inputs.size(); ++i) {
      const TraceInput& in = trace_->inputs[i];
      if (in.kind == TraceInput::Kind::Scalar) {
        if (in.structural) scalars_.push_back({i, scalar, false});
        ++scalar;
        continue;
      }
      const bool contiguous = in.strides == contiguous_strides(in.meta.sizes);
      if (in.free_sizes) tensors_.push_back({i, tensor, !contiguous || shared[in.storage_group] > 1});
      ++tensor;
    }
    for (const KeySource& s : tensors_) {
      const TraceInput& in = trace_->inputs[s.trace_input];
      add_layout(s, in.meta.sizes, in.strides, in.offset);
    }
    for (const KeySource& s : scalars_) add_number(trace_->inputs[s.trace_input].value);
    calls_ = recorded->call_count();
    generators_ = recorded->generators();
    has_backward_ = recorded->has_backward();
    Made& made = made_.emplace_back();
    made.key = key_;
    made.instance = std::move(recorded);
    current_ = 0;
  }

  RunResult run(LentTensors inputs, std::span<const Scalar> scalars, const std::function<bool()>& before_commit,
                std::vector<RunOutput>& outputs, Release* release, const SameTensors& same) override {
    read_key(inputs, scalars);
    if (made_[current_].key != key_ && !find() && !make(inputs, scalars)) {
      ++refused_;
      refusal_ = "there is no graph for these sizes, and making one would not pay yet";
      return {RunStatus::Busy, 0};
    }
    ++runs_;
    Made& made = made_[current_];
    made.used = runs_;
    refusal_ = made.refusal;
    if (!made.instance) return {RunStatus::Refused, 0};
    const std::shared_ptr<Compiled> held = made.instance;
    return held->run(inputs, scalars, before_commit, outputs, release, same);
  }

  std::string text() const override { return shown() ? shown()->text() : std::string(); }
  size_t node_count() const override { return shown() ? shown()->node_count() : 0; }
  size_t call_count() const override { return calls_; }
  bool has_backward() const override { return has_backward_; }
  const std::vector<Generator*>& generators() const override { return generators_; }
  Footprint footprint() const override {
    Footprint sum;
    for (const Made& m : made_)
      if (m.instance) sum += m.instance->footprint();
    return sum;
  }
  double first_run_ms() const override {
    double sum = 0;
    for (const Made& m : made_) sum += m.instance ? m.instance->first_run_ms() : 0;
    return sum;
  }
  size_t instances() const override {
    return static_cast<size_t>(std::count_if(made_.begin(), made_.end(), [](const Made& m) { return !!m.instance; }));
  }
  std::string refusal() const override { return refusal_; }

 private:
  /// An instance, or the knowledge that there can't be one.
  struct Made {
    std::vector<int64_t> key;
    std::shared_ptr<Compiled> instance;
    std::string refusal;
    uint64_t used = 0;
  };

  void add_layout(const KeySource& s, const Dims& sizes, const Dims& strides, int64_t offset) {
    key_.insert(key_.end(), sizes.begin(), sizes.end());
    if (!s.whole_layout) return;
    key_.insert(key_.end(), strides.begin(), strides.end());
    key_.push_back(offset);
  }

  /// By kind and bits: 1, 1.0 and True make different graphs.
  void add_number(const Scalar& value) {
    key_.push_back(static_cast<int64_t>(value.kind()));
    key_.push_back(value.is_float() ? std::bit_cast<int64_t>(value.to_double()) : value.to_int());
  }

  void read_key(LentTensors inputs, std::span<const Scalar> scalars) {
    key_.clear();
    for (const KeySource& s : tensors_) {
      const TensorImpl& t = *inputs[s.number];
      add_layout(s, t.sizes, t.strides, t.offset);
    }
    for (const KeySource& s : scalars_) add_number(scalars[s.number]);
  }

  bool find() {
    const auto found = std::find_if(made_.begin(), made_.end(), [&](const Made& m) { return m.key == key_; });
    if (found == made_.end()) return false;
    current_ = static_cast<size_t>(found - made_.begin());
    return true;
  }

  /// False: too many have been made for the runs that they served.
  bool make(LentTensors inputs, std::span<const Scalar> scalars) {
    if (builds_ >= kFreeBuilds && 2 * builds_ > runs_ + refused_ / kRefusedPerRun) return false;
    if (const auto allows = build_policy().allows; allows && !allows(last_build_us_, times_met())) return false;
    ++builds_;
    const double before = thread_time_us();
    auto inputs_now = std::make_shared<std::vector<TraceInput>>(trace_->inputs);
    std::vector<TraceInput>& given = *inputs_now;
    for (const KeySource& s : tensors_) {
      const TensorImpl& t = *inputs[s.number];
      TraceInput& in = given[s.trace_input];
      in.meta.sizes = t.sizes;
      in.strides = t.strides;
      in.offset = t.offset;
    }
    for (const KeySource& s : scalars_) given[s.trace_input].value = scalars[s.number];
    Made made;
    made.key = key_;
    made.used = runs_;
    try {
      BuildRequest request;
      request.inputs = std::move(inputs_now);
      made.instance = compile_request(trace_, request);
    } catch (const InternalError& e) {
      made.refusal = e.what();
    } catch (const Error& e) {  // the program will raise it by itself
      made.refusal = e.what();
    }
    made_.push_back(std::move(made));
    evict();
    last_build_us_ = thread_time_us() - before;
    if (const auto built = build_policy().built) built(last_build_us_);
    return find();
  }

  /// How often runs have come with the sizes of this one and found no instance.
  int times_met() {
    if (met_.size() >= kMostMet) met_.clear();
    return ++met_[key_];
  }

  /// The one just made stays.
  void evict() {
    while (made_.size() > kMostInstances || (made_.size() > 2 && footprint().between_runs() > kMostBytes)) {
      const auto oldest = std::min_element(made_.begin(), made_.end() - 1,
                                           [](const Made& a, const Made& b) { return a.used < b.used; });
      made_.erase(oldest);
    }
  }

  /// The instance that ran last; null where sizes since then have been refused and pushed it out.
  const Compiled* shown() const {
    const Made* last = nullptr;
    for (const Made& m : made_)
      if (m.instance && (!last || m.used > last->used)) last = &m;
    return last ? last->instance.get() : nullptr;
  }

  const std::shared_ptr<const Trace> trace_;
  size_t calls_ = 0;
  bool has_backward_ = false;
  std::vector<Generator*> generators_;  ///< the same for all sizes: calls decide them
  std::vector<KeySource> tensors_, scalars_;
  std::vector<int64_t> key_;  ///< of the run; kept for its memory
  std::vector<Made> made_;
  size_t current_ = 0;  ///< of the last run: most runs come with the sizes of the run before
  uint64_t runs_ = 0, refused_ = 0, builds_ = 0;
  std::map<std::vector<int64_t>, int> met_;
  double last_build_us_ = 0;  ///< 0: not known yet
  std::string refusal_;
};

}  // namespace

bool has_free_shapes(const Trace& trace) {
  return std::any_of(trace.inputs.begin(), trace.inputs.end(),
                     [](const TraceInput& in) { return in.free_sizes || in.structural; });
}

std::shared_ptr<Compiled> make_shaped(std::shared_ptr<const Trace> trace, std::shared_ptr<Compiled> recorded) {
  return std::make_shared<Shaped>(std::move(trace), std::move(recorded));
}

}  // namespace terra::graph

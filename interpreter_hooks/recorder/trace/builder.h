// Builds the Python-free trace of a recording: what the frame does to tensors, as the binding layer reports it.
#pragma once
#include "graph/trace/roll.h"
#include "graph/trace/trace.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "interpreter_hooks/recorder/core/reports.h"
#include "interpreter_hooks/recorder/region/symbolic_sizes.h"
#include "interpreter_hooks/recorder/region/tensor_scalars.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace terra::capture {

/// Numbers of values are provisional while recording (inputs are found when they are first used); finish() puts inputs
/// first, as the trace wants it.
class TraceBuilder final : public hooks::OpObserver {
 public:
  explicit TraceBuilder(Recording& recording);
  ~TraceBuilder() override;
  TraceBuilder(const TraceBuilder&) = delete;

  /// Becomes the observer of this thread.
  void begin();
  /// Steps back; anything may follow, nothing is reported any more.
  void detach();
  /// Called by put() for tensors that come from outside: what their .grad was when they were first seen.
  void met(PyObject* tensor);
  /// A register for a tensor that the trace makes and the program keeps.
  Register output(Shadow& tensor);
  /// After each instruction: numbers taken from tensors that C code consumed are facts.
  void settle(ShadowFrame& frame);
  /// Numbers that follow from sizes.
  /// The number of a tensor's rows is a fact from here on.
  void fix_length(PyObject* tensor);
  Sizes& sizes() { return sizes_; }
  TensorScalars& tensor_scalars() { return tensor_scalars_; }
  /// A branch: what follows was recorded under this truth of a tensor, or of a number that the graph knows.
  void assert_truth(graph::TraceId id, bool value);
  /// An early number as an input of the trace.
  graph::TraceId number_input(const Value& value) { return scalar_input(value); }
  graph::TraceId new_value() { return next_value_++; }
  size_t record_count() const { return trace_.records.size(); }
  /// What the program gets from the graph, so far.
  std::vector<graph::TraceId> output_ids() const;
  size_t output_count() const { return outputs_.size(); }
  graph::Rolled roll(const graph::LoopPlan& plan, std::span<const graph::TraceId> outputs) {
    return graph::roll(trace_, plan, outputs, next_value_);
  }
  /// Whether other runs may come with other sizes of the tensor. Doesn't make it an input.
  bool may_vary(const Shadow& tensor) const;
  void record(decltype(graph::TraceRecord::what) what);
  /// `reg` gets value `id` in a run.
  void publish(graph::TraceId id, Register reg) { outputs_.push_back({id, reg}); }
  /// A dynamic number that decides sizes or indices: each value of it has a graph instance.
  graph::TraceId structural_input(const Value& value);
  /// Guards that concern tensors, the trace itself, the graph. Stops the recording when the graph is refused.
  /// `cut`: the frame goes on, and may do so in another gradient mode than it began in.
  void finish(Entry& entry, bool cut);
  /// The user-level calls seen so far; a backward() counts as several.
  size_t worth() const { return worth_; }
  /// The switches are those that there were when the frame began; what attributes of tensors are follows from them.
  void guard_mode();
  uint64_t mode_at_start() const { return mode_; }

  void on_call(const hooks::CallReport& report) override;
  void on_item(PyObject* tensor, PyObject* value) override;
  void on_truth(PyObject* tensor, bool value) override;
  void on_metadata(PyObject* tensor, const char* attribute, PyObject* value, int64_t dim) override;
  void on_grad_read(PyObject* tensor, PyObject* value) override;
  void on_grad_write(PyObject* tensor, PyObject* value) override;
  void before_backward() override { shed_memory(); }
  void on_backward(const hooks::BackwardReport& report) override;
  void on_grad(const hooks::BackwardReport& report) override;
  void on_function(const void* node, const char* name, std::span<PyObject* const> inputs,
                   std::span<PyObject* const> outputs, bool saves) override;
  void on_history(PyObject* tensor, const void* node, unsigned index, PyObject* result) override;
  void on_hook(PyObject* tensor, const void* hooks, bool first, PyObject* handle) override;
  void on_retain_grad(PyObject* tensor) override;
  void on_history_read(PyObject* tensor) override;
  void on_data(PyObject* tensor, PyObject* data) override;
  void on_data_write(PyObject* tensor, PyObject* data) override;
  void on_callback(const void* owner, std::span<PyObject* const> gradients, PyObject* node) override;
  void on_callback_done(const void* owner, std::span<PyObject* const> results) override;
  void on_construct(PyObject* data, PyObject* tensor) override;
  void on_requires_grad(PyObject* tensor, bool value) override;
  void on_grad_mode(GradientModes modes) override;
  void on_mode_read() override;
  void on_opaque(const char* what, PyObject* tensor) override;

 private:
  struct Input {
    PyObject* object;  // held by the recording
    Register reg;
    graph::TraceInput what;
  };
  /// An operand of the open instruction that a recorded call has taken as what it is, not as a fact.
  struct Used {
    PyObject* object;
    Register reg;  ///< no_register for a container of numbers
  };

  bool listening();
  /// The same of a report of the engine; it is then one of the open instruction's.
  bool take_report();
  Pending* pending();
  graph::TraceId id_of(PyObject* tensor);
  graph::TraceId id_of(const Tensor& tensor);
  graph::TraceId make_input(Shadow& shadow);
  graph::TraceId scalar_input(const Value& value);
  graph::TraceId call(const char* op, std::vector<graph::TraceArg> args);
  graph::TraceId constant(Tensor tensor);
  int count_inputs(Value value);
  graph::TraceId construct(const Value& data, const Tensor& made);
  graph::TraceRecord at_this_line(graph::TraceRecord record) const;
  static std::string place(const terra::Op& op, const std::string& file, int line);
  bool is_constant_here(const terra::Op& op);
  graph::TraceArg argument(const hooks::CallReport& report, size_t index, bool constant, std::vector<Used>& used);
  bool number_argument(const hooks::CallReport& report, size_t index, bool constant, std::vector<Used>& used,
                       graph::TraceArg& out);
  bool list_argument(const hooks::CallReport& report, size_t index, std::vector<Used>& used, graph::TraceArg& out);
  std::vector<Value> list_sources(const hooks::CallReport& report, size_t index, std::vector<Used>& used);
  const Value* scalar_source(PyObject* object);
  void find_number(std::vector<Value>& values, PyObject* object, std::vector<Value*>& found, int depth);
  static bool is_index(const Pending& open);
  void pin_operands(const std::vector<Used>& used);
  void pin_unused(Value& value, const std::vector<Used>& used, int depth);
  bool varies(graph::TraceId id) const;
  bool results_vary(const graph::CallRecord& call) const;
  Value told_size(Shadow& tensor, int32_t dim, PyObject* value);
  Value told(Shadow& tensor, const std::string& attribute, PyObject* value, int64_t dim);
  void fix_size(Shadow& tensor, size_t dim);
  void fix_sizes(Shadow& tensor);
  void renumber();
  bool compile(Entry& entry);
  bool share_bytes() const;
  void guard_tensors();
  bool starts_inside(const hooks::BackwardReport& report);
  bool has_history_outside();
  graph::CallbackRuns take_runs();
  bool made_inside(PyObject* tensor, const char* what);
  void link(std::span<PyObject* const> outputs, bool last);
  void put_on_afterwards(PyObject* tensor);
  void call_afterwards();
  void refuse_behind_functions();
  Value version_of(PyObject* tensor, PyObject* version);
  std::vector<graph::TraceId> ids_of(std::span<PyObject* const> tensors);
  void link_gradients();
  void shed_memory();
  void shed_what_has_grown();

  Recording& r_;
  Reports reports_;
  graph::Trace trace_;
  bool attached_ = false;
  bool writes_ = false;                         ///< something in place
  bool sparse_gradients_ = false;               ///< of tables: only runs that are put off have them
  std::unordered_set<const Storage*> written_;  ///< in place, while histories were kept
  bool gradients_ = false;                      ///< backward, or .grad read or written
  bool accumulates_ = false;                    ///< backward
  std::unordered_set<PyObject*> watched_;       ///< tensors from outside whose .grad or requires_grad the frame touches
  hooks::OpObserver* before_ = nullptr;

  std::vector<Input> inputs_;
  std::vector<std::pair<Register, graph::TraceInput>> scalars_;
  std::unordered_map<Register, graph::TraceId> scalar_ids_;     ///< inputs and items
  std::unordered_map<PyObject*, Ref<Storage>> first_storages_;  ///< of tensors from outside, as they were met
  std::unordered_map<PyObject*, Tensor> first_gradients_;       ///< of tensors from outside, undefined for None
  uint64_t bytes_after_shedding_ = 0;                           ///< that tensors had
  std::vector<std::pair<graph::TraceId, Register>> outputs_;
  Value bound_;                                     ///< of a slice, where an operand was looked for
  std::vector<std::pair<PyObject*, Value>> items_;  ///< numbers taken from tensors during this instruction
  graph::TraceId next_value_ = 0;

  // Python functions that passes over the tape call: nodes of the program's own and dicts of hooks, by number.
  std::unordered_map<const void*, uint32_t> callbacks_;
  std::vector<std::shared_ptr<graph::CallbackRun>> open_runs_;  ///< innermost last: records go there
  std::vector<graph::CallbackRuns> finished_runs_;              ///< by depth, of passes that are not reported yet

  bool links_ = false;  ///< functions and hooks have been met whose gradients come after the frame
  /// What an effect of the frame will have changed: the graph may not use it from there on. With the reason.
  std::unordered_map<graph::TraceId, const char*> closed_;
  bool leaf_was_moved_ = false;                         ///< its data was assigned in the frame
  std::unordered_set<graph::TraceId> without_history_;  ///< what has one outside, and none in the trace

  /// By storage from outside: a tensor that views it, and its version when the frame began.
  struct Met {
    PyObject* tensor;
    uint32_t version;
    Register reg = no_register;  ///< of the version, once it has been read
  };
  std::unordered_map<const Storage*, Met> storages_;
  uint32_t asserts_ = 0;

  Sizes sizes_;
  TensorScalars tensor_scalars_;
  std::unordered_set<graph::TraceId> varying_;                  ///< tensors whose sizes may differ between runs
  std::unordered_set<graph::TraceId> steady_;                   ///< results of calls whose sizes are facts
  std::unordered_set<graph::TraceId> moved_;                    ///< inputs whose dimensions the frame changed in place
  std::unordered_map<graph::TraceId, graph::TraceId> data_of_;  ///< what x.data gave: the number of x
  uint64_t element_sizes_ = 0;                                  ///< value_dependent_calls() so far
  bool exact_offsets_ = false;                                  ///< where tensors begin in their storage is a fact
  std::vector<Used> used_;                                      ///< of an index, whose parts are several calls
  bool index_open_ = false;
  size_t worth_ = 0;
  uint64_t mode_ = 0;        ///< engine_mode() when the frame began
  uint64_t first_node_ = 0;  ///< nodes of the tape with smaller numbers were there by then
  bool mode_guarded_ = false;
};

}  // namespace terra::capture

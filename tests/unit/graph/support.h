// Traces written by hand, and the comparison of a graph's run with eager execution of the same trace.
#pragma once
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "graph/cache/compiled.h"
#include "graph/trace/replay.h"

namespace terra::graph::test {

/// A dynamic argument of a recorded call.
struct V {
  TraceId id;
};
struct L {
  std::vector<TraceId> ids;
};
using CallArg = std::variant<V, L, Arg>;

/// Fills a Trace. Inputs describe themselves from real tensors; storage groups from shared storages.
class TraceMaker {
 public:
  explicit TraceMaker(const std::vector<Tensor>& inputs);

  TraceId scalar(Scalar::Kind kind, const std::string& name = "s");
  TraceId constant(const Tensor& t);
  TraceId call(const char* op, const std::vector<CallArg>& args);
  std::vector<TraceId> call_many(const char* op, const std::vector<CallArg>& args, size_t results);
  void in_place(const char* op, const std::vector<CallArg>& args);
  TraceId item(TraceId tensor, Scalar::Kind kind);
  void assert_truth(TraceId tensor, bool expected);
  void backward(TraceId root);
  std::vector<TraceId> grad(TraceId root, const std::vector<TraceId>& inputs, bool create_graph = false);
  TraceId read_grad(TraceId tensor);
  TraceId data(TraceId tensor);
  void write_grad(TraceId tensor, TraceId value);
  void grad_mode(bool enabled);
  void output(TraceId id) { trace.outputs.push_back(id); }

  Trace trace;

 private:
  TraceId next() { return trace.values++; }
  template <class R>
  void add(R record) {
    TraceRecord r;
    r.what = std::move(record);
    r.file = "program.py";
    r.line = static_cast<int>(trace.records.size()) + 1;
    trace.records.push_back(std::move(r));
  }
  CallRecord record(const char* op, const std::vector<CallArg>& args);
};

/// What print() shows of a graph behind its first line.
std::string lines(std::initializer_list<const char*> body);

/// Everything that a run leaves behind, as comparable text with exact bits.
struct Outcome {
  std::vector<std::string> outputs, inputs, grads;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};
std::string bits(const Tensor& t);
/// Of a run that has ended.
Outcome outcome_of(const std::vector<Tensor>& inputs, const std::vector<RunOutput>& outputs);

using MakeInputs = std::function<std::vector<Tensor>()>;

/// Eager execution of the trace on fresh inputs.
Outcome run_eagerly(const Trace& trace, const MakeInputs& make, const std::vector<Scalar>& scalars = {});
/// The compiled trace on fresh inputs, `times` times on the same inputs; requires that it runs to its end.
Outcome run_compiled(const Trace& trace, const MakeInputs& make, const std::vector<Scalar>& scalars = {},
                     int times = 1);
/// The first output of one run; undefined where it did not come to its end. Asks Catch nothing: any thread may call it.
Tensor run_once(Compiled& compiled, const std::vector<Tensor>& inputs);
/// Requires that both agree bit for bit.
void require_same(const Trace& trace, const MakeInputs& make, const std::vector<Scalar>& scalars = {});

// Tensors with reproducible contents.
Tensor filled(Dims sizes, uint32_t seed, DType dtype = DType::F32);
Tensor values(Dims sizes, const std::vector<float>& elements);
Tensor leaf(Tensor t);
void start();

}  // namespace terra::graph::test

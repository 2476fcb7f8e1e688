// The helpers of support.h; the test program of a folder is made of its *_test.cpp files.
#include "tests/unit/graph/support.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/transfer.h"
#include "graph/trace/copy.h"
#include "kernels/abi/half.h"
#include "tests/unit/null_device.h"

namespace terra::graph::test {

void start() { eager::start(); }

TraceMaker::TraceMaker(const std::vector<Tensor>& inputs) {
  start();
  trace.name = "test";
  std::map<Storage*, uint32_t> groups;
  for (const Tensor& t : inputs) {
    TraceInput in;
    in.name = fmt::format("x{}", trace.values);
    in.meta = {t.dtype(), t.sizes(), false, t.device()};
    in.strides = t.strides();
    in.offset = t->offset;
    in.requires_grad = t.requires_grad();
    in.is_leaf = autograd::is_leaf(t);
    in.storage_group = groups.try_emplace(t->storage.get(), static_cast<uint32_t>(groups.size())).first->second;
    trace.inputs.push_back(in);
    next();
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const Tensor g = autograd::grad(inputs[i]); g.defined())
      for (size_t k = 0; k < inputs.size(); ++k)
        if (inputs[k] == g) trace.inputs[i].grad = static_cast<TraceId>(k);
}

TraceId TraceMaker::scalar(Scalar::Kind kind, const std::string& name) {
  TraceInput in;
  in.kind = TraceInput::Kind::Scalar;
  in.scalar_kind = kind;
  in.name = name;
  trace.inputs.push_back(in);
  return next();
}

TraceId TraceMaker::constant(const Tensor& t) {
  trace.constants.emplace_back(next(), t);
  return trace.values - 1;
}

CallRecord TraceMaker::record(const char* op, const std::vector<CallArg>& args) {
  CallRecord r;
  r.op = find_op(op);
  if (!r.op) throw InternalError(fmt::format("no op '{}'", op));
  for (const CallArg& a : args) {
    TraceArg out;
    if (const auto* v = std::get_if<V>(&a)) {
      out.kind = TraceArg::Kind::Value;
      out.value = v->id;
    } else if (const auto* l = std::get_if<L>(&a)) {
      out.kind = TraceArg::Kind::ValueList;
      out.list = l->ids;
    } else {
      out.constant = OwnedArgs({&std::get<Arg>(a), 1});
    }
    r.args.push_back(std::move(out));
  }
  return r;
}

std::vector<TraceId> TraceMaker::call_many(const char* op, const std::vector<CallArg>& args, size_t results) {
  CallRecord r = record(op, args);
  for (size_t i = 0; i < results; ++i) r.results.push_back(next());
  const std::vector<TraceId> ids = r.results;
  add(std::move(r));
  return ids;
}

TraceId TraceMaker::call(const char* op, const std::vector<CallArg>& args) { return call_many(op, args, 1)[0]; }

void TraceMaker::in_place(const char* op, const std::vector<CallArg>& args) {
  CallRecord r = record(op, args);
  r.in_place = true;
  r.results = {std::get<V>(args[0]).id};
  add(std::move(r));
}

TraceId TraceMaker::item(TraceId tensor, Scalar::Kind kind) {
  add(ItemRecord{tensor, next(), kind});
  return trace.values - 1;
}
void TraceMaker::assert_truth(TraceId tensor, bool expected) { add(AssertRecord{tensor, expected}); }
void TraceMaker::backward(TraceId root) {
  BackwardRecord r;
  r.roots = {root};
  add(std::move(r));
}
std::vector<TraceId> TraceMaker::grad(TraceId root, const std::vector<TraceId>& inputs, bool create_graph) {
  GradRecord r;
  r.roots = {root};
  r.inputs = inputs;
  r.retain_graph = r.create_graph = create_graph;
  for (size_t i = 0; i < inputs.size(); ++i) r.results.push_back(next());
  const std::vector<TraceId> ids = r.results;
  add(std::move(r));
  return ids;
}
TraceId TraceMaker::read_grad(TraceId tensor) {
  add(ReadGradRecord{tensor, next()});
  return trace.values - 1;
}
TraceId TraceMaker::data(TraceId tensor) {
  add(DataRecord{tensor, next()});
  return trace.values - 1;
}
void TraceMaker::write_grad(TraceId tensor, TraceId value) { add(WriteGradRecord{tensor, value}); }
void TraceMaker::grad_mode(bool enabled) { add(GradModeRecord{enabled}); }

std::string bits(const Tensor& t) {
  if (!t.defined()) return "none";
  static const Op* clone = find_op("clone");
  GradMode off(false);
  const Tensor c = to_host((*clone)(t));
  std::string text = describe(t) + ":";
  const auto* p = c->data_as<unsigned char>();
  const size_t size = size_of(t.dtype());
  for (int64_t i = 0; i < t.numel(); ++i) {
    uint64_t word = 0;
    std::memcpy(&word, p + static_cast<size_t>(i) * size, size);
    text += fmt::format(" {:x}", word);
    if (t.dtype() == DType::F32) text += fmt::format("({})", c->data_as<float>()[i]);
  }
  return text;
}

namespace {

void describe_inputs(const std::vector<Tensor>& inputs, Outcome& o) {
  for (const Tensor& t : inputs) {
    o.inputs.push_back(bits(t));
    o.grads.push_back(bits(autograd::grad(t)));
  }
}

std::string text_of(const RunOutput& v) {
  if (const auto* t = std::get_if<Tensor>(&v)) return bits(*t);
  return fmt::format("{}", std::get<Scalar>(v).to_double());
}

}  // namespace

Outcome outcome_of(const std::vector<Tensor>& inputs, const std::vector<RunOutput>& outputs) {
  Outcome o;
  for (const RunOutput& v : outputs) o.outputs.push_back(text_of(v));
  describe_inputs(inputs, o);
  return o;
}

Outcome run_eagerly(const Trace& trace, const MakeInputs& make, const std::vector<Scalar>& scalars) {
  const std::vector<Tensor> inputs = make();
  Replay replay(trace);
  size_t tensors = 0, numbers = 0;
  for (TraceId i = 0; i < trace.inputs.size(); ++i) {
    if (trace.inputs[i].kind == TraceInput::Kind::Tensor)
      replay.set(i, inputs[tensors++]);
    else
      replay.set(i, scalars[numbers++]);
  }
  for (const auto& [id, t] : trace.constants) replay.set(id, t);
  replay.run();
  Outcome o;
  for (TraceId id : trace.outputs) {
    const ReplayValue& v = replay.value(id);
    if (const auto* t = std::get_if<Tensor>(&v)) o.outputs.push_back(bits(*t));
    if (const auto* s = std::get_if<Scalar>(&v)) o.outputs.push_back(fmt::format("{}", s->to_double()));
  }
  describe_inputs(inputs, o);
  return o;
}

Tensor run_once(Compiled& compiled, const std::vector<Tensor>& inputs) {
  std::vector<RunOutput> outputs;
  const bool done = compiled.run(lend(inputs), {}, nullptr, outputs).status == RunStatus::Done;
  return done ? std::get<Tensor>(outputs.front()) : Tensor();
}

Outcome run_compiled(const Trace& trace, const MakeInputs& make, const std::vector<Scalar>& scalars, int times) {
  const auto compiled = compile(trace);
  const std::vector<Tensor> inputs = make();
  std::vector<RunOutput> outputs;
  INFO(compiled->text());
  for (int k = 0; k < times; ++k) {
    const RunResult r = compiled->run(lend(inputs), scalars, nullptr, outputs);
    REQUIRE(r.status == RunStatus::Done);
  }
  return outcome_of(inputs, outputs);
}

namespace {

/// The same tensors on the null device, with their gradients, and sharing memory as they do; nothing if some have a
/// history.
std::vector<Tensor> on_null_device(const std::vector<Tensor>& tensors) {
  using terra::test::kNullDevice;
  std::map<Storage*, Ref<Storage>> storages;
  std::vector<Tensor> there;
  for (const Tensor& t : tensors) {
    if (!autograd::is_leaf(t)) return {};
    there.push_back(terra::test::on_null_device(t, storages));
    autograd::set_requires_grad(there.back(), t.requires_grad());
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor g = autograd::grad(tensors[i]);
    if (!g.defined()) continue;
    const auto at = std::find(tensors.begin(), tensors.end(), g);
    autograd::set_grad(
        there[i], at != tensors.end() ? there[static_cast<size_t>(at - tensors.begin())] : moved_to(g, kNullDevice));
  }
  return there;
}

/// The null device gives the bits of the CPU, eagerly and compiled, where a graph can be on one device alone.
void require_same_on_null_device(const Trace& trace, const MakeInputs& make, const std::vector<Scalar>& scalars,
                                 const Outcome& expected) {
  terra::test::null_backend();
  const DeviceScope scope(terra::test::kNullDevice);
  const auto make_there = [&] {
    const DeviceScope here{Device()};
    return on_null_device(make());
  };
  if (make_there().empty()) return;
  Trace there = copy_of(trace);
  for (TraceInput& in : there.inputs) in.meta.device = terra::test::kNullDevice;
  for (auto& [id, t] : there.constants) t = moved_to(t, terra::test::kNullDevice);
  INFO("on the null device");
  CHECK(run_eagerly(there, make_there, scalars) == expected);
  try {
    compile(there);
  } catch (const InternalError& e) {
    CHECK(std::string(e.what()).find("a graph computes on one device") != std::string::npos);
    return;
  }
  CHECK(run_compiled(there, make_there, scalars) == expected);
}

}  // namespace

void require_same(const Trace& trace, const MakeInputs& make, const std::vector<Scalar>& scalars) {
  const Outcome eager = run_eagerly(trace, make, scalars);
  const Outcome compiled = run_compiled(trace, make, scalars);
  INFO(to_string(trace));
  INFO(compile(trace)->text());
  CHECK(compiled.outputs == eager.outputs);
  CHECK(compiled.inputs == eager.inputs);
  CHECK(compiled.grads == eager.grads);
  require_same_on_null_device(trace, make, scalars, eager);
}

Tensor filled(Dims sizes, uint32_t seed, DType dtype) {
  start();
  Tensor t = Tensor::empty(sizes, dtype);
  uint32_t x = seed * 2654435761u + 12345u;
  for (int64_t i = 0; i < t.numel(); ++i) {
    x = x * 1664525u + 1013904223u;
    const double v = static_cast<double>(x >> 8) / (1 << 23) - 1.0;
    switch (dtype) {
      case DType::F32: t->data_as<float>()[i] = static_cast<float>(v); break;
      case DType::F64: t->data_as<double>()[i] = v; break;
      case DType::F16: t->data_as<Half>()[i] = Half(static_cast<float>(v)); break;
      case DType::BF16: t->data_as<BFloat16>()[i] = BFloat16(static_cast<float>(v)); break;
      case DType::I64: t->data_as<int64_t>()[i] = static_cast<int64_t>(v * 10); break;
      case DType::Bool: t->data_as<bool>()[i] = v > 0; break;
      default: throw InternalError("filled() knows six dtypes");
    }
  }
  return t;
}

Tensor values(Dims sizes, const std::vector<float>& elements) {
  start();
  Tensor t = Tensor::empty(sizes, DType::F32);
  std::copy(elements.begin(), elements.end(), t->data_as<float>());
  return t;
}

Tensor leaf(Tensor t) {
  autograd::set_requires_grad(t, true);
  return t;
}

std::string lines(std::initializer_list<const char*> body) {
  std::string text;
  for (const char* line : body) text += std::string("  ") + line + "\n";
  return text + "}\n";
}

}  // namespace terra::graph::test

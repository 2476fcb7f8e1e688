// Each op on many rows against the same op on each of them, over the samples of its record.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>

#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "graph/trace/emitter.h"
#include "recursive/batching/rules.h"
#include "recursive/batching/sub_graphs.h"
#include "tests/unit/recursive/plain.h"
#include "tests/unit/recursive/samples.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::recursive;
using namespace terra::recursive::test;

namespace {

constexpr int64_t kCalls = 3;

using Args = std::vector<SampleArg>;

template <class F>
void for_each_tensor(const Args& args, F&& f) {
  for (const SampleArg& a : args) {
    if (const auto* one = std::get_if<Tensor>(&a.value)) f(*one, a.is_drawn);
    if (const auto* list = std::get_if<std::vector<Tensor>>(&a.value))
      for (const Tensor& t : *list) f(t, a.is_drawn);
  }
}

/// The op with other tensors in the places of those of `args`, in order.
std::vector<Tensor> call_with(const Op& op, const Args& args, const std::vector<Tensor>& tensors) {
  std::vector<NodeArg> given;
  ValueId next = 0;
  for (const SampleArg& a : args) {
    if (const auto* attribute = std::get_if<NodeArg>(&a.value)) {
      given.push_back(*attribute);
    } else if (std::holds_alternative<Tensor>(a.value)) {
      given.push_back(Use{next++});
    } else {
      UseList list;
      for (const Tensor& t : std::get<std::vector<Tensor>>(a.value)) {
        list.push_back(t.defined() ? next : kNoId);
        ++next;
      }
      given.push_back(std::move(list));
    }
  }
  while (!given.empty() && std::holds_alternative<std::monostate>(given.back())) given.pop_back();
  for (size_t i = 0; i < given.size(); ++i) {
    const Param& p = op.sig().params[i];
    const auto* one = std::get_if<Scalar>(&given[i]);
    if (one && p.type == ParamType::IntList) given[i] = IntList(std::max(p.list_length, 1), one->to_int());
    if (!std::holds_alternative<std::monostate>(given[i]) || p.optional || !p.has_default) continue;
    const Arg& d = p.default_value;
    if (d.kind() == Arg::Kind::Scalar) given[i] = d.scalar();
    if (d.kind() == Arg::Kind::String) given[i] = std::string(d.text());
    if (d.kind() == Arg::Kind::IntList) given[i] = IntList(d.ints().begin(), d.ints().end());
  }
  const ArgList list(given, [&](ValueId id) { return tensors[id]; });
  std::vector<Tensor> made;
  terra::call(op, list.args(), made);
  return made;
}

/// The primitives that the op consists of, on inputs for the tensors of `args`.
Graph record(const Op& op, const Args& args) {
  Graph g;
  GraphEmitter emitter(g);
  const EmitterScope scope(emitter);
  std::vector<Tensor> inputs;
  for_each_tensor(args, [&](const Tensor& t, bool) {
    if (!t.defined()) return inputs.push_back(Tensor());
    const ValueId id = g.add_input(ValueMeta::tensor(t.dtype(), t.sizes(), {}));
    inputs.push_back(emitter.whole(id, contiguous_strides(t.sizes()), 0));
  });
  for (const Tensor& t : call_with(op, args, inputs)) g.outputs.push_back(emitter.value_of(*t));
  return g;
}

std::vector<Batched> play(const Graph& g, const std::vector<Batched>& inputs) {
  std::vector<Batched> values(g.values.size());
  for (size_t i = 0; i < g.inputs.size(); ++i) values[g.inputs[i]] = inputs[i];
  for (const auto& [id, tensor] : g.constants) values[id] = {tensor};
  for (const Node& n : g.nodes) {
    const std::vector<Batched> made = play_batched(
        g, n, [&](ValueId id) { return values[id]; }, kCalls);
    for (size_t r = 0; r < made.size(); ++r) values[n.results[r]] = made[r];
  }
  std::vector<Batched> results;
  for (ValueId id : g.outputs) results.push_back(values[id]);
  return results;
}

struct Batching {
  std::string refused;  ///< why the op can't compute many calls at once
  std::string differs;  ///< from what one call after the other computes
};

/// `has_rows`: by tensor, whether each call has its own.
Batching try_rows(const Op& op, std::string_view text, const std::function<bool(size_t)>& has_rows) {
  std::vector<Args> calls;
  for (int64_t r = 0; r < kCalls; ++r) calls.push_back(*SampleReader(text, static_cast<uint32_t>(r + 1)).read(op));
  std::vector<std::vector<Tensor>> tensors(kCalls);
  std::vector<bool> rows;
  for (int64_t r = 0; r < kCalls; ++r) {
    size_t k = 0, at = 0;
    std::vector<Tensor> first = tensors[0];
    for_each_tensor(calls[r], [&](const Tensor& t, bool is_drawn) {
      const bool own = is_drawn && t.defined() && has_rows(k++);
      if (r == 0) rows.push_back(own);
      tensors[r].push_back(own || r == 0 ? t : first[at]);
      ++at;
    });
  }
  if (std::find(rows.begin(), rows.end(), true) == rows.end()) return {};
  std::vector<Batched> inputs;
  for (size_t k = 0; k < rows.size(); ++k) {
    if (!tensors[0][k].defined()) continue;
    std::vector<Tensor> all;
    for (const auto& of_call : tensors) all.push_back(of_call[k]);
    inputs.push_back(rows[k] ? Batched{test::op("stack", all, 0), true} : Batched{tensors[0][k]});
  }
  std::vector<Batched> found;
  try {
    found = play(record(op, calls[0]), inputs);
  } catch (const Unbatchable& refused) {
    return {refused.why, ""};
  } catch (const Error& failed) {
    return {"", failed.what()};
  }
  for (int64_t r = 0; r < kCalls; ++r) {
    const std::vector<Tensor> expected = call_with(op, calls[r], tensors[r]);
    if (found.size() != expected.size()) return {"", "number of results"};
    for (size_t k = 0; k < expected.size(); ++k) {
      const Tensor row = found[k].rows ? test::op("select", found[k].tensor, 0, r) : found[k].tensor;
      if (!is_near(row, expected[k])) return {"", fmt::format("result {} of call {}", k, r)};
    }
  }
  return {};
}

/// What recursive models are made of.
const std::set<std::string_view> kWanted = {"add",
                                            "mul",
                                            "sub",
                                            "div",
                                            "tanh",
                                            "sigmoid",
                                            "relu",
                                            "exp",
                                            "log",
                                            "sqrt",
                                            "gelu",
                                            "maximum",
                                            "clamp",
                                            "sum",
                                            "mean",
                                            "amax",
                                            "amin",
                                            "prod",
                                            "argmax",
                                            "max_with_index",
                                            "logsumexp",
                                            "var",
                                            "norm",
                                            "all",
                                            "any",
                                            "mm",
                                            "bmm",
                                            "addmm",
                                            "matmul",
                                            "linear",
                                            "mv",
                                            "outer",
                                            "baddbmm",
                                            "bilinear",
                                            "cat",
                                            "stack",
                                            "chunk",
                                            "split",
                                            "unbind",
                                            "softmax",
                                            "log_softmax",
                                            "layer_norm",
                                            "index_select",
                                            "gather",
                                            "select",
                                            "cross_entropy",
                                            "nll_loss",
                                            "scatter",
                                            "scatter_add",
                                            "transpose",
                                            "t",
                                            "permute",
                                            "reshape",
                                            "view",
                                            "flatten",
                                            "unsqueeze",
                                            "squeeze",
                                            "expand",
                                            "clone",
                                            "detach",
                                            "to_dtype",
                                            "narrow",
                                            "flip",
                                            "cumsum",
                                            "sort",
                                            "topk",
                                            "repeat",
                                            "pad",
                                            "tril",
                                            "roll",
                                            "cosine_similarity",
                                            "mse_loss"};

}  // namespace

TEST_CASE("many calls of an op are as each of them by itself", "[recursion]") {
  eager::start();
  size_t batched = 0;
  for (const Op* op : all_ops()) {
    if (op->is(kRandom) || op->writes) continue;
    std::string why = "it has no sample";
    size_t of_op = 0;
    for (const Sample& sample : op->samples) {
      if (sample.dtypes.find("complex") != std::string_view::npos) continue;
      INFO(op->name << "(" << sample.args << ")");
      try {
        if (!SampleReader(sample.args, 1).read(*op)) continue;
        const Batching of_all = try_rows(*op, sample.args, [](size_t) { return true; });
        why = of_all.refused;
        of_op += why.empty();
        CHECK(of_all.differs == "");
        for (size_t own = 0; own < 3; ++own)  // one of the tensors is each call's own
          CHECK(try_rows(*op, sample.args, [&](size_t k) { return k == own; }).differs == "");
      } catch (const InternalError& e) {  // a graph can't hold it
        why = e.what();
      }
    }
    batched += of_op > 0;
    INFO(op->name << " runs call by call: " << why);
    CHECK((of_op > 0 || kWanted.count(op->name) == 0));
  }
  CHECK(batched >= 300);
}

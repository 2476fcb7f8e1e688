// Calls and ops that are put off compute what they would have, when somebody asks.
#include <catch2/catch.hpp>

#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "engine/random/generator.h"
#include "engine/tensor/sparse.h"
#include "recursive/deferral/dag_schedule.h"
#include "recursive/deferral/deferred_queue.h"
#include "tests/unit/recursive/tensors.h"

namespace terra::recursive::test {
namespace {

using graph::TraceArg;
using graph::TraceId;

/// A trace whose inputs are like these tensors.
class Captured {
 public:
  explicit Captured(std::vector<Tensor> inputs) : inputs_(std::move(inputs)) {
    trace_.name = "captured";
    for (const Tensor& t : inputs_) {
      graph::TraceInput& in = trace_.inputs.emplace_back();
      in.meta = {t.dtype(), t.sizes()};
      in.strides = t.strides();
      in.requires_grad = t.requires_grad();
      in.storage_group = trace_.values++;
    }
  }
  /// A number that each run brings; before the first call.
  TraceId number(Scalar::Kind kind) {
    graph::TraceInput& in = trace_.inputs.emplace_back();
    in.kind = graph::TraceInput::Kind::Scalar;
    in.scalar_kind = kind;
    return trace_.values++;
  }
  TraceId call(const char* name, std::initializer_list<std::variant<TraceId, Arg>> args) {
    graph::CallRecord record{find_op(name)};
    for (const auto& a : args) {
      TraceArg& made = record.args.emplace_back();
      if (const auto* id = std::get_if<TraceId>(&a)) {
        made.kind = TraceArg::Kind::Value;
        made.value = *id;
      } else {
        made.constant = OwnedArgs(std::span<const Arg>(&std::get<Arg>(a), 1));
      }
    }
    record.results = {trace_.values++};
    graph::TraceRecord& made = trace_.records.emplace_back();
    const TraceId result = record.results[0];
    made.what = std::move(record);
    return result;
  }
  std::shared_ptr<DeferredGraph> graph(std::initializer_list<TraceId> outputs) {
    trace_.outputs = outputs;
    return std::make_shared<DeferredGraph>(trace_, nullptr);
  }

 private:
  std::vector<Tensor> inputs_;
  graph::Trace trace_;
};

Tensor put_off(const std::shared_ptr<DeferredGraph>& graph, const std::vector<Tensor>& inputs) {
  std::vector<std::variant<Tensor, Scalar>> results;
  REQUIRE(DeferredCalls::defer(graph, lend(inputs), {}, results));
  return std::get<Tensor>(results[0]);
}

/// join(l, r) = tanh(l @ w) * r, captured for states of that kind.
struct Network {
  Tensor w = drawn(Dims{3, 3}, 1);
  std::shared_ptr<DeferredGraph> join;

  Network() {
    const Tensor leaf = drawn(Dims{2, 3}, 2);
    Captured c({leaf, leaf, w});
    join = c.graph({c.call("mul", {c.call("tanh", {c.call("mm", {TraceId{0}, TraceId{2}})}), TraceId{1}})});
  }
  Tensor plain(const Tensor& l, const Tensor& r) const { return op("mul", op("tanh", op("mm", l, w)), r); }
  Tensor deferred(const Tensor& l, const Tensor& r) const { return put_off(join, {l, r, w}); }
};

bool waits(const Tensor& t) { return DeferredQueue::is_to_be_made(*t); }

/// A balanced tree over the leaves.
template <class Join>
Tensor reduce(std::vector<Tensor> level, Join&& join) {
  while (level.size() > 1) {
    std::vector<Tensor> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(join(level[i], level[i + 1]));
    if (level.size() % 2) next.push_back(level.back());
    level = std::move(next);
  }
  return level[0];
}

std::vector<Tensor> leaves(size_t count) {
  std::vector<Tensor> made;
  for (size_t i = 0; i < count; ++i) made.push_back(drawn(Dims{2, 3}, static_cast<uint32_t>(10 + i)));
  return made;
}

TEST_CASE("Calls that wait run when somebody asks for bytes, level by level") {
  eager::start();
  const Network n;
  const uint64_t batches = deferral_counts().batches;
  const auto words = leaves(8);
  const Tensor h = reduce(words, [&](auto& l, auto& r) { return n.deferred(l, r); });
  REQUIRE(waits(h));
  REQUIRE(deferred_work() != nullptr);
  REQUIRE(h.requires_grad());
  require_near(h, reduce(words, [&](auto& l, auto& r) { return n.plain(l, r); }));
  REQUIRE(!waits(h));
  REQUIRE(deferred_work() == nullptr);
  REQUIRE(deferral_counts().batches - batches == 3);  // of 4, 2 and 1 calls
}

TEST_CASE("Gradients of calls that have waited are those of the calls") {
  eager::start();
  const Network n;
  const auto words = leaves(5);
  const auto gradients = [&](auto&& join) {
    const Tensor loss = op("sum", reduce(words, join));
    std::vector<Tensor> targets = words;
    targets.push_back(n.w);
    return autograd::gradients(std::vector<Tensor>{loss}, {}, targets, false, false, true);
  };
  const auto plain = gradients([&](auto& l, auto& r) { return n.plain(l, r); });
  const auto batched = gradients([&](auto& l, auto& r) { return n.deferred(l, r); });
  for (size_t i = 0; i < plain.size(); ++i) require_near(batched[i], plain[i]);
}

/// What a host that makes sparse tensors is asked for, while this lives; they are dense here.
struct SparseHost {
  SparseHost() { sparse_hooks().rows = rows; }
  ~SparseHost() { sparse_hooks() = before; }
  SparseHost(const SparseHost&) = delete;

  static Tensor rows(const Tensor& values, const Tensor& places, int64_t count, int64_t padding) {
    asked.push_back(op("clone", places));
    return op("embedding_backward", values, places, count, padding);
  }
  static inline std::vector<Tensor> asked;
  const SparseHooks before = sparse_hooks();
};

TEST_CASE("Rows that calls have looked up become one sparse gradient of their table, in the order of calls") {
  eager::start();
  const SparseHost host;
  const Tensor table = drawn(Dims{1000, 3}, 1);
  Captured c({table, integer(0)});
  const auto leaf =
      c.graph({c.call("tanh", {c.call("embedding_forward", {TraceId{0}, TraceId{1}, Arg(int64_t{9}), Arg(true)})})});
  const std::vector<int64_t> words = {4, 9, 4, 2};
  const auto gradient = [&](auto&& look_up) {
    SparseHost::asked.clear();
    Tensor sum;
    for (int64_t word : words) {
      const Tensor row = op("sum", look_up(integer(word)));
      sum = sum.defined() ? op("add", sum, row) : row;
    }
    const Tensor unused = look_up(integer(7));
    return autograd::gradients(std::vector<Tensor>{sum}, {}, std::vector<Tensor>{table}, false, false, true)[0];
  };
  const Tensor plain =
      gradient([&](const Tensor& word) { return op("tanh", op("embedding_forward", table, word, 9, true)); });
  REQUIRE(SparseHost::asked.size() == words.size());
  const Tensor together = gradient([&](const Tensor& word) { return put_off(leaf, {table, word}); });
  REQUIRE(SparseHost::asked.size() == 1);
  REQUIRE(SparseHost::asked[0].numel() == static_cast<int64_t>(words.size()));
  for (size_t i = 0; i < words.size(); ++i) REQUIRE(SparseHost::asked[0]->data_as<int64_t>()[i] == words[i]);
  require_near(together, plain);
}

TEST_CASE("Calls of narrow batches run at once, and wait again later") {
  WidthAccount account;
  account.add(WidthAccount::kEnough, 10);
  REQUIRE(account.waits());
  const auto rest = [&] {
    uint64_t calls = 0;
    while (!account.waits()) ++calls;
    return calls;
  };
  account.add(WidthAccount::kEnough, WidthAccount::kEnough);
  REQUIRE(rest() == WidthAccount::kFirstRest);
  account.add(WidthAccount::kEnough, WidthAccount::kEnough);
  REQUIRE(rest() == 2 * WidthAccount::kFirstRest);
  account.add(WidthAccount::kEnough, 10);  // whatever made them narrow is over
  REQUIRE(rest() == 0);
  account.add(WidthAccount::kEnough, WidthAccount::kEnough);
  REQUIRE(rest() == WidthAccount::kFirstRest);
}

TEST_CASE("What no gradient reaches has none") {
  eager::start();
  const Network n;
  const auto words = leaves(3);
  const Tensor used = n.deferred(words[0], words[1]);
  const Tensor unused = n.deferred(words[1], words[2]);
  const auto found = autograd::gradients(std::vector<Tensor>{op("sum", used)}, {}, words, false, false, true);
  REQUIRE(found[0].defined());
  REQUIRE(!found[2].defined());
}

TEST_CASE("A hook on what lies between calls sees its whole gradient") {
  eager::start();
  const Network n;
  const auto words = leaves(3);
  const auto seen_by_hook = [&](auto&& join) {
    const Tensor inner = join(words[0], words[1]);
    const Tensor loss = op("sum", op("add", join(inner, words[2]), inner));
    Tensor seen;
    autograd::add_hook(inner, [&](const Tensor& g) {
      seen = g;
      return Tensor();
    });
    autograd::backward(std::vector<Tensor>{loss}, {}, false, false);
    return seen;
  };
  require_near(seen_by_hook([&](auto& l, auto& r) { return n.deferred(l, r); }),
               seen_by_hook([&](auto& l, auto& r) { return n.plain(l, r); }));
}

TEST_CASE("Second derivatives pass calls that have waited") {
  eager::start();
  const Network n;
  const auto words = leaves(4);
  const auto second = [&](auto&& join) {
    const Tensor loss = op("sum", reduce(words, join));
    const Tensor first =
        autograd::gradients(std::vector<Tensor>{loss}, {}, std::vector<Tensor>{n.w}, true, true, false)[0];
    const Tensor square = op("sum", op("mul", first, first));
    return autograd::gradients(std::vector<Tensor>{square}, {}, std::vector<Tensor>{n.w}, false, false, false)[0];
  };
  require_near(second([&](auto& l, auto& r) { return n.deferred(l, r); }),
               second([&](auto& l, auto& r) { return n.plain(l, r); }));
}

TEST_CASE("A write comes behind the calls that wait to read what it changes") {
  eager::start();
  const Network n;
  const GradMode off(false);
  const auto words = leaves(2);
  const Tensor expected = n.plain(words[0], words[1]);
  const Tensor h = n.deferred(words[0], words[1]);
  SECTION("by a weight itself") { find_op("add")->in_place(n.w, 1.0); }
  SECTION("by another storage of its bytes") {
    const Tensor data = Tensor::view_of(Storage::apart(n.w->storage), DType::F64, n.w.sizes(), n.w.strides(), 0);
    find_op("add")->in_place(data, 1.0);
  }
  require_near(h, expected);
}

TEST_CASE("Ops on what waits wait, too, and calls of another structure still join the first") {
  eager::start();
  const Network n;
  const auto words = leaves(4);
  const uint64_t settled = deferral_counts().settled;
  Tensor total = op("sum", n.deferred(words[0], words[1]));
  REQUIRE(waits(total));
  total = op("add", total, op("sum", n.deferred(words[2], words[3])));
  REQUIRE(waits(total));
  const Tensor again = n.deferred(op("mul", n.deferred(words[0], words[1]), 2.0), words[2]);  // needs an op before it
  REQUIRE(waits(again));
  require_near(total, op("add", op("sum", n.plain(words[0], words[1])), op("sum", n.plain(words[2], words[3]))));
  require_near(again, n.plain(op("mul", n.plain(words[0], words[1]), 2.0), words[2]));
  REQUIRE(deferral_counts().settled - settled == 2);  // one for each stage
}

TEST_CASE("An index that an op refuses is refused when the call is put off") {
  eager::start();
  const Tensor table = drawn(Dims{4, 3}, 1);
  Captured c({table, integer(0)});
  const auto look_up = c.graph({c.call("embedding", {TraceId{0}, TraceId{1}})});
  std::vector<std::variant<Tensor, Scalar>> results;
  const std::vector<Tensor> good{table, integer(3)}, bad{table, integer(4)};
  REQUIRE(DeferredCalls::defer(look_up, lend(good), {}, results));
  REQUIRE_THROWS_AS(DeferredCalls::defer(look_up, lend(bad), {}, results), Error);
  require_near(std::get<Tensor>(results[0]), op("embedding", table, integer(3)));
}

TEST_CASE("A number that an op refuses as an index is refused at each call, and one that it takes is asked about once") {
  eager::start();
  const Tensor table = drawn(Dims{4, 3}, 1);
  Captured c({table});
  const TraceId row = c.number(Scalar::Kind::Int);
  const auto look_up = c.graph({c.call("embedding", {TraceId{0}, row})});
  std::vector<std::variant<Tensor, Scalar>> results;
  for (int round = 0; round < 3; ++round) {
    const std::vector<Scalar> good{Scalar(int64_t{round})}, bad{Scalar(int64_t{4 + round % 2})};
    const std::vector<Tensor> tables{table};
    REQUIRE(DeferredCalls::defer(look_up, lend(tables), good, results));
    REQUIRE_THROWS_AS(DeferredCalls::defer(look_up, lend(tables), bad, results), Error);
  }
  for (int64_t i = 0; i < 3; ++i)
    require_near(op("unsqueeze", std::get<Tensor>(results[static_cast<size_t>(i)]), 0),
                 op("embedding", table, integer(i)));
}

TEST_CASE("Random numbers that depend on sizes alone are drawn when a call is put off") {
  eager::start();
  const Network n;
  const auto words = leaves(2);
  Captured c({drawn(Dims{2, 3}, 1)});
  const TraceId mask = c.call("dropout_mask", {TraceId{0}, Arg(0.5)});
  const auto drop = c.graph({c.call("mul", {TraceId{0}, mask})});
  const Tensor state = n.deferred(words[0], words[1]);
  default_generator().manual_seed(5);
  const Tensor first = put_off(drop, {state}), second = put_off(drop, {state});
  const Tensor behind = op("rand", Dims{2});
  REQUIRE(waits(state));
  REQUIRE(waits(second));
  default_generator().manual_seed(5);
  const Tensor plain = n.plain(words[0], words[1]);
  for (const Tensor& t : {first, second}) require_near(t, op("mul", plain, op("dropout_mask", plain, 0.5)));
  require_near(behind, op("rand", Dims{2}));
}

TEST_CASE("Graphs that do more than compute don't wait") {
  eager::start();
  const Tensor a = drawn(Dims{3}, 1);
  Captured draws({a});
  const TraceId mask = draws.call("bernoulli_each", {TraceId{0}});
  REQUIRE_THROWS_AS(draws.graph({mask}), Unbatchable);
  Captured views({a});
  const TraceId part = views.call("narrow", {TraceId{0}, Arg(0), Arg(1), Arg(2)});
  REQUIRE_THROWS_AS(views.graph({part}), Unbatchable);
  Captured detaches({a});
  const TraceId detached = detaches.call("detach", {TraceId{0}});
  REQUIRE_THROWS_AS(detaches.graph({detaches.call("mul", {detached, TraceId{0}})}), Unbatchable);
}

}  // namespace
}  // namespace terra::recursive::test

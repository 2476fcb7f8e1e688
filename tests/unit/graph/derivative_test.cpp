// Gradients of graphs that are called, against numeric ones and against the tape.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "graph/gradient/call.h"
#include "graph/ir/print.h"
#include "graph/passes/pipeline.h"
#include "tests/unit/graph/run_graph.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// A graph that calls `id` of the table.
Graph caller(const std::shared_ptr<const GraphTable>& table, GraphId id) {
  const Graph& callee = table->at(id);
  Graph g;
  g.name = "main";
  g.table = table;
  Node call;
  call.kind = NodeKind::Call;
  call.index = id;
  for (ValueId input : callee.inputs) call.args.push_back(Use{g.add_input(callee.meta(input))});
  for (ValueId output : callee.outputs) g.outputs.push_back(g.add_value(callee.meta(output)));
  call.results = g.outputs;
  g.nodes.push_back(std::move(call));
  verify(g, Stage::Optimized, "derived");
  optimize(g, Phase::Whole);
  optimize(g, Phase::Part);
  verify(g, Stage::Optimized, "optimized");
  return g;
}

/// A graph of a table, its forward variant and its backward graph.
struct Derived {
  Derived(GraphTable made, GraphId of, const std::vector<bool>& wanted) : id(of) {
    derivative = Derivatives(made).of(id, wanted);
    table = std::make_shared<GraphTable>(std::move(made));
  }
  /// Of the graph @f.
  Derived(const std::string& text, const std::vector<bool>& wanted) : Derived(*parsed(text).table, 0, wanted) {}

  /// Gradients of the sum of the results times the tangents.
  std::vector<Tensor> gradients(const std::vector<Input>& inputs, const std::vector<Tensor>& tangents) {
    if (!backward) {
      forward = std::make_unique<graph::test::BoundGraph>(caller(table, derivative.forward));
      backward = std::make_unique<graph::test::BoundGraph>(caller(table, derivative.backward));
    }
    results = (*forward)(inputs);
    std::vector<Input> given = {forward->record(results.size() - 1)};
    results.pop_back();
    for (uint32_t i : derivative.reads) given.push_back(inputs[i]);
    for (const Tensor& t : tangents) given.push_back(t);
    return (*backward)(given);
  }

  const GraphId id;
  Derivative derivative;
  std::shared_ptr<const GraphTable> table;
  std::unique_ptr<graph::test::BoundGraph> forward, backward;
  std::vector<Tensor> results;
};

/// The same by differences, in 64 bits.
Tensor numeric(graph::test::BoundGraph& program, std::vector<Input> inputs, size_t input,
               const std::vector<Tensor>& tangents) {
  Tensor& x = std::get<Tensor>(inputs[input]);
  Tensor gradient = Tensor::empty(x.sizes(), DType::F64);
  const auto value = [&] {
    const std::vector<Tensor> results = program(inputs);
    double sum = 0;
    for (size_t r = 0; r < results.size(); ++r)
      for (int64_t k = 0; k < results[r].numel(); ++k)
        sum += results[r]->data_as<double>()[k] * tangents[r]->data_as<double>()[k];
    return sum;
  };
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double before = x->data_as<double>()[i], step = 1e-6;
    x->data_as<double>()[i] = before + step;
    const double above = value();
    x->data_as<double>()[i] = before - step;
    gradient->data_as<double>()[i] = (above - value()) / (2 * step);
    x->data_as<double>()[i] = before;
  }
  return gradient;
}

void require_near(const Tensor& a, const Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  for (int64_t i = 0; i < a.numel(); ++i)
    CHECK(a->data_as<double>()[i] == Approx(b->data_as<double>()[i]).margin(1e-7).epsilon(1e-6));
}

/// The gradients of a graph agree with differences, and so do the gradients of these, as often as `order` says.
void check(const GraphTable& of, GraphId id, const std::vector<Input>& inputs, int order) {
  Derived plain(of, id, std::vector<bool>(inputs.size(), true));
  graph::test::BoundGraph program(caller(plain.table, plain.id));
  const Graph& f = plain.table->at(plain.id);
  std::vector<Tensor> tangents;
  for (uint32_t o : plain.derivative.tangents)
    tangents.push_back(filled(f.meta(f.outputs[o]).sizes, 77 + o, DType::F64));
  const std::vector<Tensor> found = plain.gradients(inputs, tangents);
  REQUIRE(found.size() == plain.derivative.targets.size());
  const std::vector<Tensor> expected = program(inputs);
  for (size_t r = 0; r < expected.size(); ++r) CHECK(bits(plain.results[r]) == bits(expected[r]));
  for (size_t k = 0; k < found.size(); ++k)
    require_near(found[k], numeric(program, inputs, plain.derivative.targets[k], tangents));
  if (order < 2) return;

  // A graph whose results are the gradients: the forward variant, then the backward graph.
  GraphTable table = *plain.table;
  const Derivative& d = plain.derivative;
  Graph g;
  g.name = "gradients";
  const Graph &forward = table.at(d.forward), &backward = table.at(d.backward);
  Node there, back;
  there.kind = back.kind = NodeKind::Call;
  there.index = d.forward;
  back.index = d.backward;
  for (ValueId input : forward.inputs) there.args.push_back(Use{g.add_input(forward.meta(input))});
  for (ValueId output : forward.outputs) there.results.push_back(g.add_value(forward.meta(output)));
  back.args = {Use{there.results.back()}};
  for (uint32_t i : d.reads) back.args.push_back(there.args[i]);
  for (uint32_t o : d.tangents) back.args.push_back(Use{g.add_input(forward.meta(forward.outputs[o]))});
  for (ValueId output : backward.outputs) g.outputs.push_back(g.add_value(backward.meta(output)));
  back.results = g.outputs;
  g.nodes = {there, back};
  const GraphId gradients = table.add(std::move(g));
  std::vector<Input> more = inputs;
  for (const Tensor& t : tangents) more.push_back(t);
  check(table, gradients, more, order - 1);
}

void check(const std::string& text, const std::vector<Input>& inputs, int order = 2) {
  INFO(text);
  const GraphTable table = *parsed(text).table;
  check(table, table.id_of("f"), inputs, order);
}

Tensor wide(Dims sizes, uint32_t seed) { return filled(std::move(sizes), seed, DType::F64); }

const std::string kMain = "graph \"main\"() { return } ";

/// f(n, h, w) = n ? f(n - 1, tanh(h w), w) : h
const std::string kChain = kMain + R"(graph @f(%0: scalar int, %1: f64[2,3], %2: f64[3,3]) {
  %3: i64[] = $as_tensor(%0)
  %4: bool[] = gt(%3, 0)
  %5: f64[2,3] = $switch(%4, %0, %1, %2)
    { graph "end"(%0: scalar int, %1: f64[2,3], %2: f64[3,3]) { return %1 } }
    { graph "step"(%0: scalar int, %1: f64[2,3], %2: f64[3,3]) {
        %3: i64[] = $as_tensor(%0)
        %4: i64[] = sub(%3, 1, 1)
        %5: scalar int = $item(%4)
        %6: f64[2,3] = mm(%1, %2)
        %7: f64[2,3] = tanh(%6)
        %8: f64[2,3] = $call @f(%5, %7, %2)
        return %8 } }
  return %5 })";

/// f(n, x, w) = n < 2 ? x w : tanh(f(n - 1, x, w) + sin(f(n - 2, x, w)) w)
const std::string kTree = kMain + R"(graph @f(%0: i64[], %1: f64[2], %2: f64[2]) {
  %3: bool[] = lt(%0, 2)
  %4: f64[2] = $switch(%3, %0, %1, %2)
    { graph "inner"(%0: i64[], %1: f64[2], %2: f64[2]) {
        %3: i64[] = sub(%0, 1, 1)
        %4: i64[] = sub(%0, 2, 1)
        %5: f64[2] = $call @f(%3, %1, %2)
        %6: f64[2] = $call @f(%4, %1, %2)
        %7: f64[2] = sin(%6)
        %8: f64[2] = mul(%7, %2)
        %9: f64[2] = add(%5, %8, 1)
        %10: f64[2] = tanh(%9)
        return %10 } }
    { graph "leaf"(%0: i64[], %1: f64[2], %2: f64[2]) { %3: f64[2] = mul(%1, %2) return %3 } }
  return %4 })";

Tensor integer(int64_t value) {
  Tensor t = Tensor::empty(Dims{}, DType::I64);
  *t->data_as<int64_t>() = value;
  return t;
}

}  // namespace

TEST_CASE("the gradient of a call is a call", "[derivative]") {
  const std::string text = kMain + R"(
    graph @f(%0: f64[2,3], %1: f64[3,3], %2: f64[3]) {
      %3: f64[2,3], %4: f64[3] = $call @g(%0, %1)
      %5: f64[2,3], %6: f64[3] = $call @g(%3, %1)
      %7: f64[3] = mul(%4, %2)
      return %5, %7 }
    graph @g(%0: f64[2,3], %1: f64[3,3]) {
      %2: f64[2,3] = mm(%0, %1)
      %3: f64[2,3] = tanh(%2)
      %4: f64[3] = sum(%3, (0), false)
      return %3, %4 })";
  check(text, {wide({2, 3}, 1), wide({3, 3}, 2), wide({3}, 3)});
}

TEST_CASE("a graph that calls itself has a gradient that does", "[derivative]") {
  for (int64_t n : {0, 1, 4}) check(kChain, {Scalar(n), wide({2, 3}, 1), wide({3, 3}, 2)});
  for (int64_t n : {1, 2, 5}) check(kTree, {integer(n), wide({2}, 1), wide({2}, 2)});
}

TEST_CASE("graphs that call each other have gradients that do", "[derivative]") {
  const auto half = [](const std::string& name, const std::string& callee, const std::string& op) {
    return "graph @" + name + R"((%0: i64[], %1: f64[3], %2: f64[3]) {
      %3: bool[] = gt(%0, 0)
      %4: i64[] = sub(%0, 1, 1)
      %5: f64[3] = $switch(%3, %4, %1, %2)
        { graph "end"(%0: i64[], %1: f64[3], %2: f64[3]) { %3: f64[3] = mul(%1, %1) return %3 } }
        { graph "go"(%0: i64[], %1: f64[3], %2: f64[3]) {
            %3: f64[3] = )" +
           op + " %4: f64[3] = $call @" + callee + "(%0, %3, %2) return %4 } } return %5 } ";
  };
  const std::string text = kMain + half("f", "g", "mul(%1, %2)") + half("g", "f", "sin(%1)");
  for (int64_t n : {0, 1, 2, 5}) check(text, {integer(n), wide({3}, 1), wide({3}, 2)});
}

TEST_CASE("views and writes into them are differentiated", "[derivative]") {
  check(kMain + R"(graph @f(%0: f64[2,3], %1: f64[3]) {
      %2: f64[3,2] = t(%0)
      %3: f64[6] = view(%2, (6))
      %4: f64[3] = select(%2, 1, 0)
      %5: f64[3] = mul(%4, %1)
      %6: f64[2,3] = $write_view select(%0, %5, 0, 1)
      %7: f64[2,3] = sin(%6)
      %8: f64[6] = mul(%3, %3)
      return %7, %8 })",
        {wide({2, 3}, 1), wide({3}, 2)});
}

TEST_CASE("only gradients that are wanted are computed, and what isn't used has zeros", "[derivative]") {
  Derived d(kMain + "graph @f(%0: f64[2], %1: f64[2], %2: f64[2]) { %3: f64[2] = mul(%0, %1) return %3 }",
            {true, false, true});
  CHECK(d.derivative.targets == std::vector<uint32_t>{0, 2});
  CHECK(d.derivative.reads == std::vector<uint32_t>{1});
  const Tensor x = wide({2}, 1), w = wide({2}, 2), t = wide({2}, 3);
  const std::vector<Tensor> found = d.gradients({x, w, x}, {t});
  for (int i : {0, 1}) {
    CHECK(found[0]->data_as<double>()[i] == t->data_as<double>()[i] * w->data_as<double>()[i]);
    CHECK(found[1]->data_as<double>()[i] == 0);
  }
}

TEST_CASE("weights are handed down to the gradient, not kept by each call", "[derivative]") {
  Derived d(kChain, {false, true, true});
  CHECK(d.derivative.reads == std::vector<uint32_t>{1, 2});
  const auto pack = [](const Graph& g) { return g.nodes.back(); };
  const Graph& forward = d.table->at(d.derivative.forward);
  const auto choice = std::find_if(forward.nodes.begin(), forward.nodes.end(),
                                   [](const Node& n) { return n.kind == NodeKind::Switch; });
  REQUIRE(choice != forward.nodes.end());
  CHECK(pack(*choice->bodies[0]).args.empty());
  CHECK(pack(*choice->bodies[1]).args.size() == 2);  // tanh(h w), which the callee reads as well, and its record
  // One forward may run many times before any backward does.
  const Tensor h = wide({2, 3}, 1), w = wide({3, 3}, 2), t = wide({2, 3}, 3);
  const std::string once = bits(d.gradients({Scalar(int64_t{3}), h, w}, {t})[1]);
  std::vector<Ref<Record>> records;
  for (int64_t n = 0; n < 20; ++n) {
    (*d.forward)({Scalar(n), h, w});
    records.push_back(d.forward->record(1));
  }
  for (int64_t n = 0; n < 20; ++n) {
    const std::string found = bits((*d.backward)({records[static_cast<size_t>(n)], h, w, t})[1]);
    CHECK(found == bits(d.gradients({Scalar(n), h, w}, {t})[1]));
    CHECK((found == once) == (n == 3));
  }
}

TEST_CASE("gradients go back through calls of any depth", "[derivative]") {
  const std::string text = kMain + R"(graph @f(%0: scalar int, %1: f64[2], %2: f64[2]) {
    %3: i64[] = $as_tensor(%0)
    %4: bool[] = gt(%3, 0)
    %5: f64[2] = $switch(%4, %0, %1, %2)
      { graph "end"(%0: scalar int, %1: f64[2], %2: f64[2]) { return %1 } }
      { graph "step"(%0: scalar int, %1: f64[2], %2: f64[2]) {
          %3: i64[] = $as_tensor(%0)
          %4: i64[] = sub(%3, 1, 1)
          %5: scalar int = $item(%4)
          %6: f64[2] = mul(%1, %2)
          %7: f64[2] = $call @f(%5, %6, %2)
          return %7 } }
    return %5 })";
  Derived d(text, {false, true, true});
  const int64_t depth = 100'000;
  const Tensor x = wide({2}, 1), w = wide({2}, 2);
  for (int i : {0, 1}) x->data_as<double>()[i] = w->data_as<double>()[i] = 1;
  const std::vector<Tensor> found = d.gradients({Scalar(depth), x, w}, {x});
  CHECK(found[0]->data_as<double>()[1] == 1);  // x w^n by x: w^n
  CHECK(found[1]->data_as<double>()[1] == depth);
}

TEST_CASE("calls are recorded by the tape of symbolic tensors, and gradients of gradients are calls", "[derivative]") {
  // x -> f(n, x, w) by a call; then the gradient by x, then by w the gradient of its square.
  GraphTable table = *parsed(kTree).table;
  Graph g;
  g.name = "main";
  std::vector<Tensor> inputs;
  {
    GraphEmitter emitter(g);
    CallEmitter calls(emitter, table);
    const EmitterScope scope(emitter);
    static const Op* mul = find_op("mul");
    inputs.push_back(emitter.whole(g.add_input(ValueMeta::tensor(DType::I64, {}, {})), {}, 0));
    for (int i = 0; i < 2; ++i)
      inputs.push_back(leaf(emitter.whole(g.add_input(ValueMeta::tensor(DType::F64, {2}, {})), {1}, 0)));
    const Tensor x = (*mul)(inputs[1], 1.5);
    const Tensor y = calls.call(0, {inputs[0], x, inputs[2]})[0];
    const Tensor ones = (*find_op("full"))(Dims{2}, 1, DType::F64);
    const Tensor roots[] = {y}, tangents[] = {ones}, by[] = {inputs[1], inputs[2]};
    const std::vector<Tensor> first = autograd::gradients(roots, tangents, by, true, true, false);
    const Tensor squares[] = {(*mul)(first[0], first[1])};
    const std::vector<Tensor> second = autograd::gradients(squares, tangents, by, false, false, false);
    for (const Tensor& t : {y, first[0], first[1], second[0], second[1]}) g.outputs.push_back(emitter.value_of(*t));
  }
  g.table = std::make_shared<GraphTable>(table);
  verify(g, Stage::Captured, "emitted");
  optimize(g, Phase::Whole);
  optimize(g, Phase::Part);
  graph::test::BoundGraph program(g);
  const std::vector<Input> given = {integer(4), wide({2}, 1), wide({2}, 2)};
  const std::vector<Tensor> found = program(given);
  Tensor one = Tensor::empty(Dims{2}, DType::F64), none = Tensor::empty(Dims{2}, DType::F64);
  for (int i : {0, 1}) one->data_as<double>()[i] = 1, none->data_as<double>()[i] = 0;
  for (size_t i : {1, 2}) {
    require_near(found[i], numeric(program, given, i, {one, none, none, none, none}));
    // d(a b) = a db + b da, where a and b are held.
    require_near(found[i + 2], numeric(program, given, i, {none, found[2], found[1], none, none}));
  }
}

TEST_CASE("the gradients of a record aren't added", "[derivative]") {
  CHECK_THROWS_WITH(check(kTree, {integer(3), wide({2}, 1), wide({2}, 2)}, 3),
                    Catch::Contains("the gradients of one that is used twice can't be added"));
}

TEST_CASE("no gradient passes a loop", "[derivative]") {
  CHECK_THROWS_WITH(Derived(kMain + R"(graph @f(%0: f64[2]) {
      %1: f64[2] = $while(%0)
        { graph "more"(%0: f64[2]) { %1: f64[] = sum(%0, none, false) %2: bool[] = lt(%1, 5) return %2 } }
        { graph "step"(%0: f64[2]) { %1: f64[2] = add(%0, 1, 1) return %1 } }
      return %1 })",
                            {true}),
                    Catch::Contains("no gradient passes a while of graph \"f\""));
}

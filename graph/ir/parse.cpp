// Recursive descent over the grammar that print.cpp writes; whitespace separates and is otherwise ignored.
#include "graph/ir/parse.h"

#include <algorithm>
#include <limits>

#include "engine/errors/errors.h"
#include "graph/ir/graph_table.h"
#include "graph/ir/names.h"
#include "graph/ir/text_reader.h"

namespace terra::graph {
namespace {

/// Graphs inside of graphs, beyond which a text is none that a program was printed as.
constexpr int kMostDepth = 100;
/// Numbers of values that a short text may leave out all the same: what passes have dropped keeps its number.
constexpr size_t kSpareValues = 1 << 16;

class Parser : TextReader {
 public:
  Parser(std::string_view text, const ParseContext& context)
      : TextReader(text, context.what, context.first_line),
        context_(context),
        most_values_(std::max(text.size(), kSpareValues)) {}

  Graph whole() {
    declare_callees();
    need("graph");
    std::string name = quoted();
    Graph g = graph(std::move(name));
    while (take(kCallee)) {
      const GraphId id = callee();
      table_->define(id, graph(table_->name(id)));
    }
    if (!at_end()) wrong("the end of the text");
    if (table_->size()) g.table = table_;
    return g;
  }

 private:
  /// Calls may stand before what they call: the ids are given in the order in which the graphs come.
  void declare_callees() {
    while ((at_ = text_.find(kCallee, at_)) != std::string_view::npos) {
      at_ += kCallee.size();
      const std::string name = callee_name();
      if (table_->id_of(name) != kNoId) wrong("another name");
      table_->declare(name);
    }
    at_ = 0;
  }
  std::string callee_name() {
    if (peek() == '"') return quoted();
    const size_t start = at_;
    while (at_ < text_.size() && is_plain_name(text_[at_])) ++at_;
    if (start == at_) wrong("the name of a graph");
    return std::string(text_.substr(start, at_ - start));
  }
  /// Behind the @.
  GraphId callee() {
    const size_t start = at_;
    const GraphId id = table_->id_of(callee_name());
    if (id == kNoId) at_ = start, wrong("the name of a graph that follows");
    return id;
  }

  ValueMeta meta() {
    if (take("handle")) return {ValueKind::Handle, DType::F32, {}, {}, {}};
    if (take("record")) return ValueMeta::record();
    if (take("scalar"))
      return ValueMeta::number(static_cast<Scalar::Kind>(one_of(kScalarNames, "bool, int, uint, float or complex")));
    const DType t = dtype();
    need("[");
    Dims sizes;
    while (!take("]")) {
      if (!sizes.empty()) need(",");
      sizes.push_back(integer());
    }
    return ValueMeta::tensor(t, std::move(sizes), take("@") ? device() : Device());
  }

  Device device() {
    const size_t kind = one_of(kDeviceKindNames, "a device");
    need(":");
    const int64_t index = integer();
    if (index < 0 || index >= kDevicesOfKind) wrong("the number of a device");
    return {static_cast<DeviceKind>(kind), static_cast<uint8_t>(index)};
  }

  ValueId value_number() {
    need("%");
    const int64_t v = integer();
    if (v < 0 || static_cast<uint64_t>(v) >= most_values_) wrong("a value number");
    return static_cast<ValueId>(v);
  }
  uint32_t small_integer() {
    const int64_t v = integer();
    if (v < 0 || v > std::numeric_limits<uint32_t>::max()) wrong("a number of 32 bits");
    return static_cast<uint32_t>(v);
  }
  /// "%3: f32[2]": defines a value.
  ValueId defined_value(Graph& g) {
    const ValueId id = value_number();
    if (peek() == '"') {
      g.input_names.resize(g.inputs.size() + 1);
      g.input_names.back() = quoted();
    }
    need(":");
    if (g.values.size() <= id) {
      most_values_ -= std::min(most_values_, id + 1 - g.values.size());
      g.values.resize(id + 1);
    }
    g.values[id] = meta();
    return id;
  }

  NodeArg arg() {
    if (peek() == '%') return Use{value_number()};
    if (take("generator")) return context_.generator;
    if (!take("[")) return attribute();
    UseList list;
    while (!take("]")) {
      if (!list.empty()) need(",");
      list.push_back(take("none") ? kNoId : value_number());
    }
    return list;
  }

  void head(Node& n) {
    const bool structural = take("$");
    if (structural) n.kind = static_cast<NodeKind>(one_of(kNodeNames, "a node kind"));
    if (n.kind == NodeKind::Call) {
      need("@");
      n.index = callee();
    } else if (!structural || peek() != '(') {
      n.op = find_op(word());
      if (!n.op) wrong("the name of an op");
    }
  }

  void tail(Graph& g, Node& n) {
    static constexpr std::string_view truths[] = {"false", "true"};
    if (take("expect")) n.expected = one_of(truths, "true or false") == 1;
    if (take("index")) n.index = small_integer();
    if (take("@")) {
      n.chain = small_integer();
      need(".");
      n.ticket = small_integer();
    }
    while (take("{")) {
      need("graph");
      std::string name = quoted();
      n.bodies.push_back(std::make_shared<Graph>(graph(std::move(name))));
      need("}");
    }
    if (!take("#")) return;
    peek();
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const size_t colon = text_.rfind(':', end);
    if (colon == std::string_view::npos || colon < at_) wrong("file:line");
    g.origins.push_back({std::string(text_.substr(at_, colon - at_)), 0});
    at_ = colon + 1;
    g.origins.back().line = static_cast<int>(integer());
    n.origin = static_cast<int32_t>(g.origins.size()) - 1;
  }

  Graph graph(std::string name) {
    if (++depth_ > kMostDepth) wrong("fewer graphs inside of graphs");
    Graph g;
    g.name = std::move(name);
    need("(");
    while (!take(")")) {
      if (!g.inputs.empty()) need(",");
      const ValueId id = defined_value(g);
      g.inputs.push_back(id);
    }
    if (!g.input_names.empty()) g.input_names.resize(g.inputs.size());
    need("{");
    while (!take("return")) {
      Node n;
      while (peek() == '%') {
        n.results.push_back(defined_value(g));
        if (!take(",")) break;
      }
      if (!n.results.empty()) need("=");
      if (n.results.size() == 1 && take("constant ")) {
        const auto i = static_cast<size_t>(integer());
        if (i >= context_.constants.size()) wrong("the number of a constant of the context");
        g.constants.emplace_back(n.results.front(), context_.constants[i]);
        continue;
      }
      head(n);
      need("(");
      while (!take(")")) {
        if (!n.args.empty()) need(",");
        n.args.push_back(arg());
      }
      tail(g, n);
      g.nodes.push_back(std::move(n));
    }
    while (peek() == '%') {
      g.outputs.push_back(value_number());
      if (!take(",")) break;
    }
    need("}");
    --depth_;
    return g;
  }

  static constexpr std::string_view kCallee = "graph @";

  const ParseContext& context_;
  std::shared_ptr<GraphTable> table_ = std::make_shared<GraphTable>();
  size_t most_values_;  ///< that graphs still to be read may have
  int depth_ = 0;
};

}  // namespace

Graph parse(std::string_view text, const ParseContext& context) { return Parser(text, context).whole(); }

}  // namespace terra::graph

// Recursive descent over the grammar that print.cpp writes; whitespace separates and is otherwise ignored.
#include "graph/ir/parse.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "engine/errors/errors.h"
#include "graph/ir/names.h"

namespace terra::graph {
namespace {

template <size_t N>
int index_in(const std::string_view (&words)[N], std::string_view word) {
  for (size_t i = 0; i < N; ++i)
    if (words[i] == word) return static_cast<int>(i);
  return -1;
}

class Parser {
 public:
  Parser(std::string_view text, const ParseContext& context) : text_(text), context_(context) {}

  Graph whole() {
    Graph g = graph(true);
    skip_space();
    if (at_ != text_.size()) wrong("the end of the text");
    return g;
  }

 private:
  [[noreturn]] void wrong(std::string_view wanted) const {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) {
      ++column;
      if (text_[i] == '\n') ++line, column = 1;
    }
    fail(ErrorKind::ValueError, "graph text, line {}, column {}: expected {}", line, column, wanted);
  }

  void skip_space() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_])) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) wrong(token);
  }
  std::string_view word() {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    if (start == at_) wrong("a word");
    return text_.substr(start, at_ - start);
  }
  int64_t integer() {
    skip_space();
    int64_t v = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
    if (error != std::errc()) wrong("an integer");
    at_ = end - text_.data();
    return v;
  }
  std::string quoted() {
    need("\"");
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) out += text_[at_++];
    }
    if (at_ >= text_.size()) wrong("a closing quote");
    ++at_;
    return out;
  }

  DType dtype() {
    const int i = index_in(kShortDTypes, word());
    if (i < 0) wrong("a dtype");
    return static_cast<DType>(i);
  }

  ValueMeta meta() {
    if (take("handle")) return {ValueKind::Handle, DType::F32, {}, {}};
    if (take("scalar")) {
      const int kind = index_in(kScalarNames, word());
      if (kind < 0) wrong("bool, int, float or complex");
      return ValueMeta::number(static_cast<Scalar::Kind>(kind));
    }
    const DType t = dtype();
    need("[");
    Dims sizes;
    while (!take("]")) {
      if (!sizes.empty()) need(",");
      sizes.push_back(integer());
    }
    return ValueMeta::tensor(t, std::move(sizes));
  }

  ValueId value_number() {
    need("%");
    const int64_t v = integer();
    if (v < 0 || v > 100'000'000) wrong("a value number");
    return static_cast<ValueId>(v);
  }
  /// "%3: f32[2]": defines a value.
  ValueId defined_value(Graph& g) {
    const ValueId id = value_number();
    if (take("\"")) {
      --at_;
      g.input_names.resize(g.inputs.size() + 1);
      g.input_names.back() = quoted();
    }
    need(":");
    if (g.values.size() <= id) g.values.resize(id + 1);
    g.values[id] = meta();
    return id;
  }

  NodeArg number() {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || std::strchr("+-._", text_[at_])))
      ++at_;
    const std::string token(text_.substr(start, at_ - start));
    if (token.empty()) wrong("an argument");
    if (token.find_first_of(".en") == std::string::npos)
      return Scalar(int64_t{std::strtoll(token.c_str(), nullptr, 10)});
    char* end = nullptr;
    const double v = std::strtod(token.c_str(), &end);
    if (*end == '_') {  // "1.0_2.0j": a complex number by its parts
      const double imag = std::strtod(end + 1, &end);
      if (std::string_view(end) != "j") wrong("a number");
      return Scalar(std::complex<double>(v, imag));
    }
    if (*end) wrong("a number");
    return Scalar(v);
  }

  NodeArg arg() {
    switch (peek()) {
      case '%': return Use{value_number()};
      case '"': return quoted();
      case ':': ++at_; return dtype();
      case '(': {
        ++at_;
        IntList list;
        while (!take(")")) {
          if (!list.empty()) need(",");
          list.push_back(integer());
        }
        return list;
      }
      case '[': {
        ++at_;
        UseList list;
        while (!take("]")) {
          if (!list.empty()) need(",");
          list.push_back(take("none") ? kNoId : value_number());
        }
        return list;
      }
      default: break;
    }
    if (take("none")) return std::monostate{};
    if (take("true")) return Scalar(true);
    if (take("false")) return Scalar(false);
    if (take("generator")) return context_.generator;
    return number();
  }

  void head(Node& n) {
    const bool structural = take("$");
    const std::string_view name = word();
    if (structural) {
      const int kind = index_in(kNodeNames, name);
      if (kind < 0) wrong("a node kind");
      n.kind = static_cast<NodeKind>(kind);
    }
    if (!structural || peek() != '(') {
      n.op = find_op(structural ? word() : name);
      if (!n.op) wrong("the name of an op");
    }
  }

  void tail(Graph& g, Node& n) {
    if (take("expect")) n.expected = word() == "true";
    if (take("index")) n.index = static_cast<uint32_t>(integer());
    if (take("@")) {
      n.chain = static_cast<uint32_t>(integer());
      need(".");
      n.ticket = static_cast<uint32_t>(integer());
    }
    while (take("{")) {
      n.bodies.push_back(std::make_shared<Graph>(graph(false)));
      need("}");
    }
    if (!take("#")) return;
    skip_space();
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const size_t colon = text_.rfind(':', end);
    if (colon == std::string_view::npos || colon < at_) wrong("file:line");
    g.origins.push_back({std::string(text_.substr(at_, colon - at_)), 0});
    at_ = colon + 1;
    g.origins.back().line = static_cast<int>(integer());
    n.origin = static_cast<int32_t>(g.origins.size()) - 1;
  }

  Graph graph(bool outermost) {
    Graph g;
    need("graph");
    g.name = quoted();
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
      if (take("constant")) {
        const auto i = static_cast<size_t>(integer());
        if (!outermost || i >= context_.constants.size()) wrong("the number of a constant of the context");
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
    return g;
  }

  std::string_view text_;
  const ParseContext& context_;
  size_t at_ = 0;
};

}  // namespace

Graph parse(std::string_view text, const ParseContext& context) { return Parser(text, context).whole(); }

}  // namespace terra::graph

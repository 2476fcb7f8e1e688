#include "engine/ops/signature.h"

#include <charconv>

#include "engine/errors/errors.h"

namespace terra {
namespace {

struct TypeName {
  std::string_view text;
  ParamType type;
};
constexpr TypeName kTypeNames[] = {{"Tensor|Number", ParamType::TensorOrNumber},
                                   {"Tensor[]", ParamType::TensorList},
                                   {"Tensor", ParamType::Tensor},
                                   {"Number", ParamType::Number},
                                   {"int", ParamType::Int},
                                   {"float", ParamType::Float},
                                   {"bool", ParamType::Bool},
                                   {"dtype", ParamType::DType},
                                   {"str", ParamType::String},
                                   {"Generator", ParamType::Generator}};

/// Reads the grammar of signature.h from left to right.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  Signature parse() {
    Signature s;
    expect("(");
    bool keyword_only = false;
    while (!take(")")) {
      if (take("*,")) {
        keyword_only = true;
        continue;
      }
      s.params.push_back(param(keyword_only));
      if (!take(",")) {
        expect(")");
        break;
      }
    }
    expect("->");
    result(s);
    return s;
  }

 private:
  [[noreturn]] void mistake(const char* what) const {
    throw InternalError(std::string("op signature: ") + what + " in \"" + std::string(text_) + "\" before \"" +
                        std::string(rest_) + "\"");
  }
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) mistake("unexpected text");
  }
  std::string word() {
    skip_space();
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_')) ++n;
    if (n == 0) mistake("a name is missing");
    std::string w(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return w;
  }
  int64_t integer() {
    skip_space();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) mistake("an integer is missing");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  Param param(bool keyword_only) {
    Param p;
    p.keyword_only = keyword_only;
    type(p);
    p.optional = take("?");
    p.varargs = take("*");
    p.name = word();
    if (take("=")) {
      p.has_default = true;
      value(p);
    }
    return p;
  }
  void type(Param& p) {
    for (const TypeName& t : kTypeNames) {
      if (!take(t.text)) continue;
      p.type = t.type;
      if (t.type == ParamType::Int && take("[")) {
        p.type = ParamType::IntList;
        if (!take("]")) {
          p.list_length = static_cast<int32_t>(integer());
          expect("]");
        }
      }
      return;
    }
    mistake("unknown type");
  }
  void value(Param& p) {
    if (take("None")) {
      p.default_value = Arg();
    } else if (take("True")) {
      p.default_value = Arg(true);
    } else if (take("False")) {
      p.default_value = Arg(false);
    } else if (take("'")) {
      const size_t end = rest_.find('\'');
      p.default_text = std::string(rest_.substr(0, end));
      p.default_value = Arg(std::string_view());
      rest_.remove_prefix(end + 1);
    } else if (take("[")) {
      while (!take("]")) {
        p.default_ints.push_back(integer());
        take(",");
      }
      p.default_value = Arg(std::span<const int64_t>());
    } else {
      skip_space();
      double number = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (error != std::errc()) mistake("unreadable default");
      const std::string_view token(rest_.data(), static_cast<size_t>(end - rest_.data()));
      const bool integral = token.find_first_of(".einf") == std::string_view::npos;
      rest_.remove_prefix(token.size());
      if (p.type == ParamType::IntList) {
        p.default_ints.assign(p.list_length ? static_cast<size_t>(p.list_length) : 1, static_cast<int64_t>(number));
        p.default_value = Arg(std::span<const int64_t>());
      } else if (integral && p.type != ParamType::Float) {
        p.default_value = Arg(static_cast<int64_t>(number));
      } else {
        p.default_value = Arg(number);
      }
    }
  }
  void result(Signature& s) {
    if (take("(")) {
      while (!take(")")) {
        expect("Tensor");
        s.result_names.push_back(word());
        take(",");
      }
    } else {
      expect("Tensor");
      s.result_is_list = take("[]");
    }
    skip_space();
    if (!rest_.empty()) mistake("text after the result");
  }

  std::string_view text_, rest_;
};

}  // namespace

int Signature::find(std::string_view name) const {
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == name) return static_cast<int>(i);
  return -1;
}

Signature parse_signature(std::string_view text) {
  Signature s = Parser(text).parse();
  for (Param& p : s.params) {  // the vector is final: defaults may point into it from now on
    if (p.default_value.kind() == Arg::Kind::String) p.default_value = Arg(std::string_view(p.default_text));
    if (p.default_value.kind() == Arg::Kind::IntList) p.default_value = Arg(std::span<const int64_t>(p.default_ints));
  }
  return s;
}

}  // namespace terra

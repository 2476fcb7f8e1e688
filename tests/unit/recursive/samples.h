// The samples of the op records, read without Python.
#pragma once
#include <cctype>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "graph/ir/node.h"
#include "tests/unit/recursive/tensors.h"

namespace terra::recursive::test {

/// What stands for a parameter of a sample. Tensors that are drawn may differ from call to call.
struct SampleArg {
  std::variant<graph::NodeArg, Tensor, std::vector<Tensor>> value;
  bool is_drawn = false;
};

/// Reads "randn(3, 4), dim=1". Of the names that samples call it knows those of tensors; methods it doesn't.
class SampleReader {
 public:
  SampleReader(std::string_view text, uint32_t seed) : text_(text), random_(seed) {}

  /// One by parameter of the op; nothing where the text says more than this class knows.
  std::optional<std::vector<SampleArg>> read(const Op& op) {
    std::vector<SampleArg> args(op.sig().params.size());
    size_t position = 0;
    for (skip(); at_ < text_.size(); skip()) {
      size_t to = position++;
      if (const std::string name = keyword(); !name.empty()) {
        const int found = op.sig().find(name);
        if (found < 0) return {};
        to = static_cast<size_t>(found);
      }
      std::optional<SampleArg> arg = value();
      if (!arg || to >= args.size()) return {};
      args[to] = std::move(*arg);
      if (!eat(',') && at_ < text_.size()) return {};
    }
    return args;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool eat(std::string_view what) {
    skip();
    if (text_.substr(at_, what.size()) != what) return false;
    at_ += what.size();
    return true;
  }
  bool eat(char c) { return eat(std::string_view(&c, 1)); }

  std::string word() {
    skip();
    const size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  std::string keyword() {
    const size_t from = at_;
    std::string name = word();
    if (!name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) && eat('=')) return name;
    at_ = from;
    return "";
  }

  std::optional<Scalar> number() {
    skip();
    const size_t from = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.' ||
                                  text_[at_] == 'e' || (text_[at_] == '-' && text_[at_ - 1] == 'e')))
      ++at_;
    const std::string digits(text_.substr(from, at_ - from));
    if (digits.find_first_of("0123456789") == std::string::npos) {
      at_ = from;
      return {};
    }
    if (digits.find_first_of(".e") == std::string::npos) return Scalar(int64_t{std::stoll(digits)});
    return Scalar(std::stod(digits));
  }

  std::optional<SampleArg> value() {
    skip();
    if (at_ >= text_.size()) return {};
    const char c = text_[at_];
    std::optional<SampleArg> made;
    if (c == '\'') {
      const size_t end = text_.find('\'', at_ + 1);
      made = SampleArg{graph::NodeArg(std::string(text_.substr(at_ + 1, end - at_ - 1)))};
      at_ = end + 1;
    } else if (c == '(' || c == '[') {
      made = list(c == '(' ? ')' : ']');
    } else if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) {
      if (const auto n = number()) made = SampleArg{graph::NodeArg(*n)};
    } else {
      made = named(word());
    }
    skip();
    if (at_ < text_.size() && text_[at_] == '.') return {};  // a method
    return made;
  }

  std::optional<SampleArg> list(char end) {
    ++at_;
    graph::IntList ints;
    std::vector<Tensor> tensors;
    bool drawn = false;
    while (!eat(end)) {
      const std::optional<SampleArg> item = value();
      if (!item) return {};
      const auto* attribute = std::get_if<graph::NodeArg>(&item->value);
      const Scalar* s = attribute ? std::get_if<Scalar>(attribute) : nullptr;
      if (s && s->kind() == Scalar::Kind::Int) {
        ints.push_back(s->to_int());
      } else if (const Tensor* t = std::get_if<Tensor>(&item->value)) {
        tensors.push_back(*t);
        drawn |= item->is_drawn;
      } else if (attribute && std::holds_alternative<std::monostate>(*attribute)) {
        tensors.emplace_back();
      } else {
        return {};
      }
      eat(',');
    }
    if (tensors.empty()) return SampleArg{graph::NodeArg(std::move(ints))};
    return SampleArg{std::move(tensors), drawn};
  }

  std::optional<SampleArg> named(const std::string& name) {
    if (name == "True" || name == "False") return SampleArg{graph::NodeArg(Scalar(name == "True"))};
    if (name == "None") return SampleArg{};
    if (name == "terra.float32") return SampleArg{graph::NodeArg(DType::F32)};
    if (name == "terra.float64") return SampleArg{graph::NodeArg(DType::F64)};
    if (name == "terra.int64") return SampleArg{graph::NodeArg(DType::I64)};
    if (!eat('(')) return {};
    if (name == "terra.tensor") return constant();
    std::vector<int64_t> numbers;
    while (!eat(')')) {
      const std::optional<SampleArg> item = value();
      const auto* attribute = item ? std::get_if<graph::NodeArg>(&item->value) : nullptr;
      if (!attribute) return {};
      if (const auto* s = std::get_if<Scalar>(attribute))
        numbers.push_back(s->to_int());
      else if (const auto* l = std::get_if<graph::IntList>(attribute))
        numbers.insert(numbers.end(), l->begin(), l->end());
      else
        return {};
      eat(',');
    }
    if (name == "randint") return SampleArg{integers(numbers), true};
    const Dims sizes{std::span<const int64_t>(numbers)};
    if (name == "zeros" || name == "ones") return SampleArg{op("full", sizes, name == "ones" ? 1.0 : 0.0, DType::F64)};
    if (name != "randn" && name != "rand") return {};
    Tensor t = drawn(sizes, random_(), false);
    if (name == "rand") t = op("abs", t);
    return SampleArg{t, true};
  }

  Tensor integers(const std::vector<int64_t>& low_high_sizes) {
    Tensor t = Tensor::empty(Dims(std::span(low_high_sizes).subspan(2)), DType::I64);
    const auto range = static_cast<uint64_t>(low_high_sizes[1] - low_high_sizes[0]);
    for (int64_t i = 0; i < t.numel(); ++i)
      t->data_as<int64_t>()[i] = low_high_sizes[0] + static_cast<int64_t>(random_() % range);
    return t;
  }

  /// terra.tensor(...) of integers or bools, in up to two dimensions.
  std::optional<SampleArg> constant() {
    std::vector<int64_t> numbers, sizes;
    bool bools = false;
    const std::function<bool(size_t)> read = [&](size_t depth) {
      if (!eat('[')) {
        const std::optional<SampleArg> item = value();
        const auto* attribute = item ? std::get_if<graph::NodeArg>(&item->value) : nullptr;
        const Scalar* s = attribute ? std::get_if<Scalar>(attribute) : nullptr;
        if (!s || s->kind() == Scalar::Kind::Float) return false;
        bools |= s->kind() == Scalar::Kind::Bool;
        numbers.push_back(s->to_int());
        return true;
      }
      int64_t count = 0;
      for (; !eat(']'); ++count, eat(','))
        if (!read(depth + 1)) return false;
      if (sizes.size() <= depth) sizes.resize(depth + 1);
      sizes[depth] = count;
      return true;
    };
    if (!read(0) || !eat(')')) return {};
    Tensor t = Tensor::empty(Dims(std::span<const int64_t>(sizes)), DType::I64);
    if (t.numel() != static_cast<int64_t>(numbers.size())) return {};
    std::copy(numbers.begin(), numbers.end(), t->data_as<int64_t>());
    return SampleArg{bools ? op("to_dtype", t, DType::Bool) : t};
  }

  std::string_view text_;
  std::mt19937 random_;
  size_t at_ = 0;
};

}  // namespace terra::recursive::test

#include "graph/ir/text_reader.h"

#include <algorithm>
#include <charconv>
#include <complex>
#include <cstdlib>

#include "engine/errors/errors.h"
#include "graph/ir/names.h"

namespace terra::graph {
namespace {

bool is_in(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)); }

}  // namespace

size_t TextReader::line() const {
  return first_line_ +
         static_cast<size_t>(std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at_), '\n'));
}

void TextReader::wrong(std::string_view wanted) const {
  const size_t before = text_.substr(0, at_).rfind('\n');
  const size_t column = before == std::string_view::npos ? at_ + 1 : at_ - before;
  fail(ErrorKind::ValueError, "{}, line {}, column {}: expected {}", what_, line(), column, wanted);
}

void TextReader::skip_space() {
  while (at_ < text_.size() && is_in(text_[at_], " \t\r\n")) ++at_;
}

char TextReader::peek() {
  skip_space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool TextReader::take(std::string_view token) {
  skip_space();
  if (text_.substr(at_, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

std::string_view TextReader::word() {
  skip_space();
  const size_t start = at_;
  while (at_ < text_.size() && (is_alphanumeric(text_[at_]) || text_[at_] == '_')) ++at_;
  if (start == at_) wrong("a word");
  return text_.substr(start, at_ - start);
}

int64_t TextReader::integer() {
  skip_space();
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
  if (error != std::errc()) wrong("an integer");
  at_ = static_cast<size_t>(end - text_.data());
  return v;
}

std::string TextReader::quoted() {
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

size_t TextReader::one_of(std::span<const std::string_view> words, std::string_view wanted) {
  skip_space();
  const size_t start = at_;
  const auto found = std::find(words.begin(), words.end(), word());
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  at_ = start;
  wrong(wanted);
}

DType TextReader::dtype() { return static_cast<DType>(one_of(kShortDTypes, "a dtype")); }

IntList TextReader::integers() {
  IntList list;
  while (!take(")")) {
    if (!list.empty()) need(",");
    list.push_back(integer());
  }
  return list;
}

NodeArg TextReader::number() {
  skip_space();
  const size_t start = at_;
  while (at_ < text_.size() && (is_alphanumeric(text_[at_]) || is_in(text_[at_], "+-._"))) ++at_;
  const std::string token(text_.substr(start, at_ - start));
  at_ = start;
  if (token.empty()) wrong("an argument");
  if (token.find_first_of(".en") == std::string::npos) {
    uint64_t natural = 0;  // of those that take all its bits
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), natural);
    const bool takes_all = error == std::errc() && natural >> 63;
    const Scalar value = takes_all ? Scalar(natural) : Scalar(integer());
    if (takes_all) at_ += static_cast<size_t>(end - token.data());
    if (at_ != start + token.size()) wrong("a number");
    return value;
  }
  char* end = nullptr;
  Scalar value(std::strtod(token.c_str(), &end));
  if (*end == '_') {  // "1.0_2.0j": a complex number by its parts
    value = Scalar(std::complex<double>(value.to_double(), std::strtod(end + 1, &end)));
    if (*end++ != 'j') wrong("a number");
  }
  if (end != token.c_str() + token.size()) wrong("a number");
  at_ = start + token.size();
  return value;
}

NodeArg TextReader::attribute() {
  if (peek() == '"') return quoted();
  if (take(":")) return dtype();
  if (take("(")) return integers();
  if (take("none")) return std::monostate{};
  if (take("true")) return Scalar(true);
  if (take("false")) return Scalar(false);
  return number();
}

}  // namespace terra::graph

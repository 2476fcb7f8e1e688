// What the text forms of graphs and programs are read with: words, numbers, strings and arguments.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "graph/ir/node.h"

namespace terra::graph {

/// Walks over a text from left to right; whitespace separates and is otherwise ignored. What isn't there when it is
/// needed is an Error(ValueError) with line and column.
class TextReader {
 public:
  /// `what` names the text in errors, `first_line` is the number of its first line there.
  explicit TextReader(std::string_view text, std::string_view what = "graph text", size_t first_line = 1)
      : text_(text), what_(what), first_line_(first_line) {}

  [[noreturn]] void wrong(std::string_view wanted) const;

  /// The next character that isn't space; '\0' at the end.
  char peek();
  bool at_end() { return peek() == '\0' && at_ == text_.size(); }
  bool take(std::string_view token);
  void need(std::string_view token) {
    if (!take(token)) wrong(token);
  }
  /// Letters, digits and underscores.
  std::string_view word();
  int64_t integer();
  std::string quoted();
  /// The place of the next word in a table of words.
  size_t one_of(std::span<const std::string_view> words, std::string_view wanted);

  DType dtype();
  /// "(3, 4)", behind its opening parenthesis.
  IntList integers();
  /// A number, "text", :dtype, (integers), true, false or none.
  NodeArg attribute();

  /// What has not been read yet, and the number of its first line.
  std::string_view rest() const { return text_.substr(at_); }
  size_t line() const;

 protected:
  std::string_view text_;
  size_t at_ = 0;

 private:
  void skip_space();
  NodeArg number();

  const std::string_view what_;
  const size_t first_line_;
};

}  // namespace terra::graph

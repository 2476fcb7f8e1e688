#include "graph/file/text.h"

#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/errors/errors.h"
#include "graph/file/fields.h"
#include "graph/ir/arg_list.h"
#include "graph/ir/names.h"
#include "graph/ir/parse.h"
#include "graph/ir/print.h"
#include "graph/ir/text_reader.h"

namespace terra::graph {
namespace {

using autograd::ViewStep;
using View = std::shared_ptr<const ViewStep>;

constexpr std::string_view kVersionLine = "terra program";

NodeArg attribute_of(const Arg& arg) {
  switch (arg.kind()) {
    case Arg::Kind::None: return {};
    case Arg::Kind::Scalar: return arg.scalar();
    case Arg::Kind::IntList: return IntList(arg.ints().begin(), arg.ints().end());
    case Arg::Kind::DType: return arg.dtype();
    case Arg::Kind::String: return std::string(arg.text());
    default: throw InternalError("a view is derived by more than numbers");
  }
}

// ---- printing ------------------------------------------------------------------------------------------------------

/// `between`: what stands between the items of a list.
template <class T>
std::string text_of(const T& value, std::string_view between = ", ");

template <class List>
std::string list_of(const List& list, std::string_view between) {
  std::string out = "[";
  for (const auto& item : list) {
    if (out.size() > 1) out += between;
    out += text_of(item);
  }
  return out + "]";
}

/// From the base on.
std::string steps_of(const View& last) {
  std::vector<const ViewStep*> steps;
  for (const ViewStep* step = last.get(); step; step = step->previous.get()) steps.insert(steps.begin(), step);
  std::string out = "[";
  for (const ViewStep* step : steps) {
    out += out.size() > 1 ? ", " : "";
    if (step->origin == autograd::ViewOrigin::OneOfMany) out += fmt::format("number {} of many ", step->number);
    if (step->origin == autograd::ViewOrigin::WithoutGrad) out += "without grad ";
    if (step->origin == autograd::ViewOrigin::Inference) out += "for inference ";
    out += fmt::format("{}(", step->op->name);
    const auto args = step->args.args();
    for (size_t i = 0; i < args.size(); ++i) out += (i ? ", " : "") + print_arg(attribute_of(args[i]));
    out += ")";
  }
  return out + "]";
}

/// "name value" of each field that isn't as in a record of which nothing is said.
template <class T>
std::string fields_of(const T& record, std::string_view between) {
  constexpr std::string_view lines = ",\n  ";
  std::vector<std::string> plain;
  const T nothing{};
  each_field(nothing, [&](std::string_view, const auto& field) { plain.push_back(text_of(field)); });
  std::string out;
  size_t i = 0;
  each_field(record, [&](std::string_view name, const auto& field) {
    if (text_of(field) == plain[i++]) return;
    if (!out.empty()) out += between;
    out += fmt::format("{} {}", name, text_of(field, between == "\n" ? lines : ", "));
  });
  return out;
}

template <class T>
std::string text_of(const T& value, std::string_view between) {
  if constexpr (std::same_as<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::same_as<T, DType>)
    return std::string(short_name(value));
  else if constexpr (std::is_enum_v<T>)
    return std::string(kWords<T>[static_cast<size_t>(value)]);
  else if constexpr (std::integral<T>)
    return std::to_string(value);
  else if constexpr (std::same_as<T, Dims>)
    return fmt::format("({})", fmt::join(value.begin(), value.end(), ", "));
  else if constexpr (std::same_as<T, std::string> || std::same_as<T, Scalar>)
    return print_arg(value);
  else if constexpr (std::same_as<T, Generator*>)
    return value ? "own" : "default";
  else if constexpr (std::same_as<T, View>)
    return steps_of(value);
  else if constexpr (requires { value.has_value(); })
    return value ? text_of(*value) : "none";
  else if constexpr (requires { value.begin(); })
    return list_of(value, between);
  else
    return "{" + fields_of(value, " ") + "}";
}

// ---- reading -------------------------------------------------------------------------------------------------------

template <class T>
void read(TextReader& text, T& value);

template <class T>
void read_integer(TextReader& text, T& value) {
  const int64_t v = text.integer();
  if (!std::in_range<T>(v)) text.wrong("a smaller number");
  value = static_cast<T>(v);
}

template <class T>
void read_list(TextReader& text, std::vector<T>& list) {
  list.clear();
  text.need("[");
  while (!text.take("]")) {
    if (!list.empty()) text.need(",");
    T item{};
    read(text, item);
    list.push_back(std::move(item));
  }
}

void read_steps(TextReader& text, View& last) {
  text.need("[");
  last.reset();
  while (!text.take("]")) {
    if (last) text.need(",");
    auto step = std::make_shared<ViewStep>();
    if (text.take("number")) {
      read_integer(text, step->number);
      text.need("of"), text.need("many");
      step->origin = autograd::ViewOrigin::OneOfMany;
    } else if (text.take("without")) {
      text.need("grad");
      step->origin = autograd::ViewOrigin::WithoutGrad;
    } else if (text.take("for")) {
      text.need("inference");
      step->origin = autograd::ViewOrigin::Inference;
    }
    step->op = find_op(text.word());
    if (!step->op || !step->op->is(kView)) text.wrong("the name of a view op");
    std::vector<NodeArg> args;
    text.need("(");
    while (!text.take(")")) {
      if (!args.empty()) text.need(",");
      args.push_back(text.attribute());
    }
    step->args = OwnedArgs(ArgList(args, [](ValueId) { return Tensor(); }).args());
    step->previous = std::move(last);
    last = std::move(step);
  }
}

/// The field of that name.
template <class T>
void read_field(TextReader& text, T& record) {
  const std::string name(text.word());
  bool found = false;
  each_field(record, [&](std::string_view field, auto& value) {
    if (field != name) return;
    found = true;
    read(text, value);
  });
  if (!found) text.wrong(fmt::format("the name of a field, not '{}', before here", name));
}

template <class T>
void read(TextReader& text, T& value) {
  static constexpr std::string_view truths[] = {"false", "true"}, generators[] = {"default", "own"};
  if constexpr (std::same_as<T, bool>) {
    value = text.one_of(truths, "true or false") == 1;
  } else if constexpr (std::same_as<T, DType>) {
    value = text.dtype();
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(text.one_of(kWords<T>, "one of the words that may stand here"));
  } else if constexpr (std::integral<T>) {
    read_integer(text, value);
  } else if constexpr (std::same_as<T, Dims>) {
    text.need("(");
    value = Dims(std::span<const int64_t>(text.integers()));
  } else if constexpr (std::same_as<T, std::string>) {
    value = text.quoted();
  } else if constexpr (std::same_as<T, Scalar>) {
    const NodeArg number = text.attribute();
    if (!std::holds_alternative<Scalar>(number)) text.wrong("a number before here");
    value = std::get<Scalar>(number);
  } else if constexpr (std::same_as<T, Generator*>) {
    text.one_of(generators, "default or own");
    value = nullptr;
  } else if constexpr (std::same_as<T, View>) {
    read_steps(text, value);
  } else if constexpr (requires { value.has_value(); }) {
    value.reset();
    if (!text.take("none")) read(text, value.emplace());
  } else if constexpr (requires { value.begin(); }) {
    read_list(text, value);
  } else {
    text.need("{");
    while (!text.take("}")) read_field(text, value);
  }
}

void read_program(TextReader& text, Program& program, const std::vector<Tensor>& constants, std::string_view what) {
  while (text.peek() && !text.rest().starts_with("graph \"")) read_field(text, program);
  program.graph = parse(text.rest(), {constants, nullptr, what, text.line()});
}

}  // namespace

std::string print(const Program& program) { return fields_of(program, "\n") + "\n" + print(program.graph); }

Program parse_program(std::string_view text, const std::vector<Tensor>& constants) {
  constexpr std::string_view what = "program text";
  TextReader reader(text, what);
  Program program;
  read_program(reader, program, constants, what);
  return program;
}

std::string print(const PortableProgram& program) {
  return fmt::format("{} {}\nbound {}\n{}", kVersionLine, kTextVersion, text_of(program.tensors, ",\n  "),
                     print(program.program));
}

PortableProgram parse_portable(std::string_view text, const std::vector<Tensor>& constants) {
  constexpr std::string_view what = "program text";
  TextReader reader(text, what);
  reader.need(kVersionLine);
  const int64_t version = reader.integer();
  check(version == kTextVersion, "it is a program of version {}, and this Terra reads version {}", version,
        kTextVersion);
  PortableProgram program;
  reader.need("bound");
  read(reader, program.tensors);
  read_program(reader, program.program, constants, what);
  return program;
}

}  // namespace terra::graph

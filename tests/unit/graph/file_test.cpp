// Programs as text and in files: round trips, running without the program they came from, damage.
#include <catch2/catch.hpp>

#include <cstring>

#include "engine/errors/errors.h"
#include "engine/serialize/safetensors.h"
#include "graph/file/compact.h"
#include "graph/file/file.h"
#include "graph/file/program_runner.h"
#include "graph/file/text.h"
#include "graph/ir/print.h"
#include "graph/trace/build.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

using Role = ProgramTensor::Role;

/// y = relu(x @ w) * constant; count += 1
PortableProgram small_program() {
  start();
  const Tensor x = filled({2, 3}, 1), w = filled({3, 2}, 2), count = filled({2}, 3);
  TraceMaker t({x, w, count});
  const TraceId k = t.constant(values({2}, {0.5f, -1.25f}));
  t.output(t.call("mul", {V{t.call("relu", {V{t.call("mm", {V{0}, V{1}})}})}, V{k}}));
  t.in_place("add", {V{2}, Arg(1.0), Arg(1)});
  t.trace.modes.enabled = false;
  PortableProgram p;
  p.program = build(t.trace, {.joint = false});
  compact(p.program.graph);
  p.tensors = {{"x", Role::Argument, DType::F32, {2, 3}, {3, 1}, {}},
               {"weight \"w\"", Role::Parameter, DType::F32, {3, 2}, {2, 1}, w},
               {"count", Role::Buffer, DType::F32, {2}, {1}, count}};
  p.structure = "{\"any\": \"text\"}";
  return p;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

Tensor result(std::vector<RunOutput> outputs, size_t i = 0) { return std::get<Tensor>(outputs.at(i)); }

}  // namespace

TEST_CASE("a program's text is read as the same program", "[file]") {
  const PortableProgram p = small_program();
  const std::string text = print(p);
  INFO(text);
  CHECK(print(parse_portable(text, constants_of(p.program.graph))) == text);
  CHECK(find_violation(p).empty());
  CHECK(find_violation(parse_portable(text, constants_of(p.program.graph))).empty());
}

TEST_CASE("what isn't a program's text is refused with line and column", "[file]") {
  start();
  CHECK_THROWS_WITH(parse_portable("terra program 1\nbound []\ninputs [{kind nothing}]\n"),
                    "program text, line 3, column 15: expected one of the words that may stand here");
  CHECK_THROWS_WITH(parse_portable("terra program 1\nbound []\ncalls 1\nnothing 2\n"),
                    Catch::Contains("line 4, column 8: expected the name of a field"));
  CHECK_THROWS_WITH(parse_portable("terra program 2\n"),
                    "it is a program of version 2, and this Terra reads version 1");
  CHECK_THROWS_WITH(parse_portable("terra program 1\nbound []\ncalls 1\ngraph \"f\"() {\n  %0: f32[] = no_op()\n}"),
                    Catch::Contains("line 5, column "));
}

TEST_CASE("a file gives back the program with its tensors", "[file]") {
  const PortableProgram p = small_program();
  const std::string bytes = to_file(p);
  const PortableProgram back = from_file(bytes, "f");
  CHECK(to_file(back) == bytes);
  CHECK(back.structure == p.structure);
  REQUIRE(back.tensors.size() == 3);
  CHECK(bits(back.tensors[1].value) == bits(p.tensors[1].value));
  CHECK(back.tensors[1].value->storage.get() != p.tensors[1].value->storage.get());
}

TEST_CASE("a loaded program runs, and keeps what it writes", "[file]") {
  PortableProgram p = small_program();
  const std::string bytes = to_file(p);
  ProgramRunner made(std::move(p)), loaded(from_file(bytes, "f"));
  const Tensor x = filled({2, 3}, 9);
  for (int i = 0; i < 3; ++i) {
    CHECK(bits(result(made.run(std::vector{x}))) == bits(result(loaded.run(std::vector{x}))));
    CHECK(bits(made.own("count")) == bits(loaded.own("count")));
  }
  CHECK(bits(loaded.own("count")) != bits(from_file(bytes, "f").tensors[2].value));
  REQUIRE(loaded.arguments().size() == 1);
  CHECK(loaded.arguments()[0]->name == "x");

  SECTION("arguments that lie otherwise are copied") {
    const Tensor turned = (*find_op("t"))((*find_op("clone"))((*find_op("t"))(x), "contiguous_format"));
    CHECK(turned.strides() == Dims{1, 2});
    CHECK(bits(result(loaded.run(std::vector{turned}))) == bits(result(loaded.run(std::vector{x}))));
  }
  SECTION("others are refused by name") {
    CHECK(message_of([&] { loaded.run({}); }) == "the program takes 1 tensors, and 0 were given");
    CHECK(message_of([&] {
            loaded.run(std::vector{filled({3, 2}, 1)});
          }) == "argument 'x' is float32 [3, 2]: the program was made for float32 [2, 3]");
    CHECK(message_of([&] { loaded.run(std::vector{Tensor()}); }) == "argument 'x' is no tensor in memory");
  }
}

TEST_CASE("a program that was captured from Python runs without it", "[file]") {
  start();
  const std::string folder = TERRA_CAPTURED_PROGRAMS;
  ProgramRunner model(load(folder + "/model.safetensors")), expected(load(folder + "/expected.safetensors"));
  const std::vector<RunOutput> wanted = expected.run({});
  const Tensor x = result(wanted);
  for (size_t run = 0; run < 2; ++run) {
    const std::vector<RunOutput> made = model.run(std::vector{x});
    REQUIRE(made.size() == 2);
    CHECK(bits(result(made, 0)) == bits(result(wanted, 3 * run + 1)));
    CHECK(bits(result(made, 1)) == bits(result(wanted, 3 * run + 2)));
    CHECK(bits(model.own("norm.running_mean")) == bits(result(wanted, 3 * run + 3)));
  }
}

// ---- damage --------------------------------------------------------------------------------------------------------

TEST_CASE("a file that ends early is refused wherever it ends", "[file]") {
  const std::string bytes = to_file(small_program());
  for (size_t length = 0; length < bytes.size(); ++length) {
    const std::string what = message_of([&] { from_file(bytes.substr(0, length), "'cut'"); });
    INFO(length);
    REQUIRE(what.starts_with("'cut' is damaged or no safetensors file: "));
    REQUIRE(what.find("byte") != std::string::npos);
  }
  CHECK(message_of([&] { from_file(bytes + "x", "'long'"); }) ==
        fmt::format("'long' is damaged or no safetensors file: its tensors end at byte {} and the file at byte {}",
                    bytes.size(), bytes.size() + 1));
}

TEST_CASE("a byte that was changed is found wherever it is", "[file]") {
  const std::string bytes = to_file(small_program());
  for (const int mask : {0x01, 0x20, 0x80, 0xff})
    for (size_t at = 0; at < bytes.size(); ++at) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ mask);
      const std::string what = message_of([&] { from_file(changed, "'changed'"); });
      INFO(at << " " << mask << ": " << what);
      REQUIRE(what.starts_with("'changed' is damaged or no safetensors file: "));
    }
  std::string changed = bytes;
  changed[bytes.size() - 1] ^= 1;
  CHECK_THAT(message_of([&] { from_file(changed, "'f'"); }), Catch::Contains("the elements of tensor '"));
}

TEST_CASE("text that was changed is refused, or is a program all the same", "[file]") {
  SafeTensors contents = from_safetensors(to_file(small_program()), "f");
  const std::string text = contents.metadata["program"];
  size_t programs = 0;
  const auto look = [&](const std::string& changed) {
    try {
      contents.metadata["program"] = changed;
      ProgramRunner runner(from_file(to_safetensors(contents), "f"));
      std::vector<Tensor> arguments;
      for (const ProgramTensor* t : runner.arguments()) arguments.push_back(filled(t->sizes, 1, t->dtype));
      runner.run(arguments);
      ++programs;
    } catch (const Error&) {
    } catch (const InternalError&) {
    }
  };
  look(text);
  REQUIRE(programs == 1);
  for (size_t at = 0; at < text.size(); ++at) {
    look(text.substr(0, at));
    look(text.substr(0, at) + text.substr(at + 1));
    for (const char c : std::string_view("09-%\"({[\n\0x", 11)) {
      std::string changed = text;
      changed[at] = c;
      look(changed);
      look(text.substr(0, at) + std::string(3, c) + text.substr(at));
    }
  }
  CHECK(programs > 1);
}

TEST_CASE("text takes no more memory than it is long", "[file]") {
  start();
  std::string deep = "graph \"f\"() { ";
  for (int i = 0; i < 100'000; ++i) deep += "$switch() { graph \"f\"() { ";
  CHECK_THAT(message_of([&] { parse_program(deep); }), Catch::Contains("graphs inside of graphs"));
  CHECK_THAT(message_of([&] { parse_program("graph \"f\"(%99999999: f32[]) { return }"); }),
             Catch::Contains("a value number"));
}

TEST_CASE("files of other kinds and versions are told apart", "[file]") {
  PortableProgram p = small_program();
  SafeTensors plain;
  plain.tensors = {{"x", filled({2}, 1)}};
  CHECK(message_of([&] { from_file(to_safetensors(plain), "'f'"); }) ==
        "'f' is no program that can be run: its metadata have no 'format'");
  SafeTensors contents = from_safetensors(to_file(p), "f");
  contents.metadata["program"].replace(0, 15, "terra program 7");
  CHECK(message_of([&] { from_file(to_safetensors(contents), "'f'"); }) ==
        "'f' is no program that can be run: it is a program of version 7, and this Terra reads version 1");
  contents = from_safetensors(to_file(p), "f");
  std::erase_if(contents.tensors, [](const auto& named) { return named.first == "count"; });
  CHECK(message_of([&] { from_file(to_safetensors(contents), "'f'"); }) ==
        "'f' is no program that can be run: it has no tensor 'count'");
  contents.tensors.emplace_back("count", filled({3}, 1));
  CHECK(message_of([&] { from_file(to_safetensors(contents), "'f'"); }) ==
        "'f' is no program that can be run: tensor 'count' is float32 [3] where the program has float32 [2]");
}

TEST_CASE("what can't be kept is said", "[file]") {
  PortableProgram p = small_program();
  p.program.inputs[0].index = 5;
  CHECK(message_of([&] { to_file(p); }) == "the program 'test' can't be kept in a file: it names tensor 5 of 3");
  p = small_program();
  p.program.tensors[0].offset = 1;
  CHECK_THAT(message_of([&] { to_file(p); }), Catch::Contains("result tensor 0 reaches beyond its memory"));
  p = small_program();
  p.program.inputs[1].strides = {100, 1};
  CHECK_THAT(message_of([&] { to_file(p); }), Catch::Contains("is no view of"));
  p = small_program();
  p.tensors[2].strides = {1 << 30};
  CHECK_THAT(message_of([&] { to_file(p); }), Catch::Contains("'count' leaves gaps in its memory"));
  p = small_program();
  p.tensors[2].name = p.tensors[1].name;
  CHECK_THAT(message_of([&] { to_file(p); }), Catch::Contains("two of its tensors are named 'weight \"w\"'"));
  p.tensors[2].name = "constant 7";
  CHECK_THAT(message_of([&] { to_file(p); }), Catch::Contains("'constant 7' is the name of a constant"));
  p.tensors[2].name = p.tensors[0].name;
  CHECK(ProgramRunner(p).own("x").get() == p.tensors[2].value.get());
  p = small_program();
  p.program.graph.values[0].sizes = {int64_t{1} << 32, int64_t{1} << 32};
  CHECK_THAT(message_of([&] { to_file(p); }), Catch::Contains("which no memory holds"));
}

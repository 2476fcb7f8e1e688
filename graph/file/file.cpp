#include "graph/file/file.h"

#include <fmt/format.h>

#include "engine/errors/errors.h"
#include "engine/serialize/safetensors.h"
#include "graph/file/text.h"
#include "graph/ir/print.h"

namespace terra::graph {
namespace {

constexpr std::string_view kFormat = "terra.program";

std::string constant_name(size_t i) { return fmt::format("{}{}", kConstantPrefix, i); }

/// One of the tensors of a file, which has to be of that kind.
Tensor tensor_of(const SafeTensors& contents, const std::string& key, DType dtype, const Dims& sizes) {
  const Tensor t = contents.find(key);
  check(t.defined(), "it has no tensor '{}'", key);
  check(t.dtype() == dtype && t.sizes() == sizes, "tensor '{}' is {} where the program has {} {}", key, describe(t),
        name_of(dtype), listed(sizes));
  return t;
}

const std::string& text_of(const SafeTensors& contents, const char* key) {
  const auto found = contents.metadata.find(key);
  check(found != contents.metadata.end(), "its metadata have no '{}'", key);
  return found->second;
}

std::vector<Tensor> constants_in(const SafeTensors& contents) {
  std::vector<Tensor> constants;
  for (Tensor t; (t = contents.find(constant_name(constants.size()))).defined();) constants.push_back(t);
  return constants;
}

PortableProgram read(const SafeTensors& contents) {
  check(text_of(contents, "format") == kFormat, "it is a file of another kind, '{}'", text_of(contents, "format"));
  PortableProgram program = parse_portable(text_of(contents, "program"), constants_in(contents));
  program.structure = text_of(contents, "structure");
  const std::string problem = find_violation(program);
  check(problem.empty(), "{}", problem);
  for (ProgramTensor& t : program.tensors)
    if (t.role != ProgramTensor::Role::Argument)
      t.value = arranged(tensor_of(contents, t.name, t.dtype, t.sizes), t.strides);
  return program;
}

}  // namespace

std::string to_file(const PortableProgram& program) {
  if (const std::string problem = find_violation(program); !problem.empty())
    fail(ErrorKind::RuntimeError, "the program '{}' can't be kept in a file: {}", program.program.graph.name, problem);
  SafeTensors contents;
  contents.metadata = {{"format", std::string(kFormat)}, {"program", print(program)}, {"structure", program.structure}};
  for (const ProgramTensor& t : program.tensors)
    if (t.role != ProgramTensor::Role::Argument) contents.tensors.emplace_back(t.name, t.value);
  const std::vector<Tensor> constants = constants_of(program.program.graph);
  for (size_t i = 0; i < constants.size(); ++i) contents.tensors.emplace_back(constant_name(i), constants[i]);
  return to_safetensors(contents);
}

PortableProgram from_file(std::string_view bytes, std::string_view name) {
  const SafeTensors contents = from_safetensors(bytes, name, Seal::Needed);
  try {
    return read(contents);
  } catch (const Error& e) {
    fail(ErrorKind::RuntimeError, "{} is no program that can be run: {}", name, e.what());
  }
}

void save(const PortableProgram& program, const std::string& path) { write_bytes(path, to_file(program)); }
PortableProgram load(const std::string& path) { return from_file(read_bytes(path), path); }

}  // namespace terra::graph

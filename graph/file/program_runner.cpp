#include "graph/file/program_runner.h"

#include <algorithm>

#include "engine/errors/errors.h"
#include "graph/cache/compile_program.h"

namespace terra::graph {
namespace {

bool is_argument(const ProgramTensor& t) { return t.role == ProgramTensor::Role::Argument; }

}  // namespace

ProgramRunner::ProgramRunner(PortableProgram program)
    : program_(std::move(program)), written_(program_.tensors.size(), false) {
  if (const std::string problem = find_violation(program_); !problem.empty())
    fail(ErrorKind::RuntimeError, "the program '{}' can't be run: {}", program_.program.graph.name, problem);
  for (const StorageWrite& w : program_.program.writes) written_[program_.program.inputs[w.input].index] = true;
  compiled_ = compile(program_.program);
}

std::vector<const ProgramTensor*> ProgramRunner::arguments() const {
  std::vector<const ProgramTensor*> all;
  for (const ProgramTensor& t : program_.tensors)
    if (is_argument(t)) all.push_back(&t);
  return all;
}

Tensor ProgramRunner::own(std::string_view name) const {
  for (const ProgramTensor& t : program_.tensors)
    if (t.name == name && !is_argument(t)) return t.value;
  return {};
}

Tensor ProgramRunner::fitting(const ProgramTensor& expected, const Tensor& given, bool written) const {
  check_kind(given.defined() && given->storage.get() != nullptr, ErrorKind::TypeError,
             "argument '{}' is no tensor in memory", expected.name);
  check_kind(given.dtype() == expected.dtype && given.sizes() == expected.sizes, ErrorKind::ValueError,
             "argument '{}' is {}: the program was made for {} {}", expected.name, describe(given),
             name_of(expected.dtype), listed(expected.sizes));
  check_kind(given.device().is_cpu(), ErrorKind::ValueError, "argument '{}' is on {}: the program computes on the CPU",
             expected.name, to_string(given.device()));
  if (given.strides() == expected.strides) return given;
  check_kind(!written, ErrorKind::ValueError,
             "argument '{}' has strides {}: the program writes it, and was made for strides {}", expected.name,
             listed(given.strides()), listed(expected.strides));
  return arranged(given, expected.strides);
}

/// What is written was nobody else's memory when the program was made.
void ProgramRunner::check_apart(const std::vector<Tensor>& tensors) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    for (size_t k = 0; written_[i] && k < tensors.size(); ++k)
      check_kind(k == i || tensors[k]->storage.get() != tensors[i]->storage.get(), ErrorKind::ValueError,
                 "'{}' shares its memory with '{}', which the program writes", program_.tensors[k].name,
                 program_.tensors[i].name);
}

std::vector<RunOutput> ProgramRunner::run(std::span<const Tensor> arguments) {
  const auto wanted = static_cast<size_t>(std::count_if(program_.tensors.begin(), program_.tensors.end(), is_argument));
  check_kind(arguments.size() == wanted, ErrorKind::TypeError, "the program takes {} tensors, and {} were given",
             wanted, arguments.size());
  std::vector<Tensor> tensors;
  size_t next = 0;
  for (const ProgramTensor& t : program_.tensors) {
    const bool written = written_[tensors.size()];
    tensors.push_back(is_argument(t) ? fitting(t, arguments[next++], written) : t.value);
  }
  check_apart(tensors);
  std::vector<RunOutput> outputs;
  const std::vector<TensorImpl*> inputs = lend(tensors);
  const RunResult result = compiled_->run(inputs, {}, nullptr, outputs);
  switch (result.status) {
    case RunStatus::Done: return outputs;
    case RunStatus::AssertFailed:
      fail(ErrorKind::RuntimeError,
           "the program can't serve this run: a value that decided its way (number {}) is another one than when it was "
           "made",
           result.failed_assert);
    case RunStatus::Interrupted: fail(ErrorKind::RuntimeError, "the run of the program was interrupted");
    default: fail(ErrorKind::RuntimeError, "the program is running already");
  }
}

}  // namespace terra::graph

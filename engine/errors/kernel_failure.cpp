#include "engine/errors/kernel_failure.h"

#include "engine/errors/errors.h"

namespace terra {

void fail_as(const KernelError& failure, std::string_view op) {
  static constexpr ErrorKind kKinds[] = {ErrorKind::RuntimeError, ErrorKind::ValueError, ErrorKind::IndexError,
                                         ErrorKind::NotImplementedError};
  const bool names_op = failure.kind() == KernelError::Kind::NotImplemented && !op.empty();
  throw Error(kKinds[static_cast<int>(failure.kind())],
              names_op ? fmt::format("\"{}\" {}", op, failure.what()) : failure.what());
}

}  // namespace terra

#include "engine/ops/registry.h"

#include "engine/errors/errors.h"
#include "engine/ops/binary.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/matmul.h"
#include "engine/ops/reduce.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/unary.h"
#include "engine/ops/view.h"

namespace terra {

void register_all_ops() {
  static const Op* const one_of_each[] = {&ops::add,   &ops::eq,    &ops::clone, &ops::full,
                                          &ops::mm,    &ops::sum,   &ops::where, &ops::cat,
                                          &ops::exp,   &ops::view};
  for (const Op* op : one_of_each) ensure(find_op(op->name) == op, "every op is registered under its own name");
}

}  // namespace terra

#include "engine/ops/sparse.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/complex.h"
#include "engine/ops/index.h"
#include "engine/ops/inference.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

void coo_mm_shape(Inference& f) {
  check(f.dtype(0) == DType::I64 && f.dtype(1) == DType::I64, "coo_mm(): rows and columns of entries are int64");
  check(f.rank(0) == 1 && f.rank(1) == 1 && f.rank(2) == 1 && f.sizes(0)[0] == f.sizes(1)[0] &&
            f.sizes(0)[0] == f.sizes(2)[0],
        "coo_mm(): an entry is a row, a column and a value, but there are {}, {} and {}", listed(f.sizes(0)),
        listed(f.sizes(1)), listed(f.sizes(2)));
  check(f.rank(3) == 2, "coo_mm(): a matrix is multiplied by a matrix, not by a tensor of shape {}",
        listed(f.sizes(3)));
  check(f.dtype(2) == f.dtype(3), "addmm: expected values and dense to have the same dtype, but got {} and {}",
        scalar_type_name(f.dtype(2)), scalar_type_name(f.dtype(3)));
  check(f.integer(4) >= 0, "coo_mm(): a matrix has no {} rows", f.integer(4));
  f.result(f.dtype(3), Dims{f.integer(4), f.sizes(3)[1]});
}

/// An entry's value meets the products of one row of the result with one row of `dense`; those rows meet the transpose.
void coo_mm_gradient(Backward& b) {
  const Tensor rows = b.in(0), columns = b.in(1);
  if (b.needs(2)) {
    const Tensor from = index_select(b.grad(), 0, rows), to = index_select(b.in(3), 0, columns);
    b.set(2, sum(mul(from, conjugate(to)), {1}));
  }
  if (b.needs(3)) b.set(3, coo_mm(columns, rows, conjugate(b.in(2)), b.grad(), b.sizes(3)[0]));
}

}  // namespace

const Op coo_mm{
    {.name = "coo_mm",
     .signature = "(Tensor rows, Tensor columns, Tensor values, Tensor dense, int size) -> Tensor",
     .doc = "The matrix of `size` rows with these entries, of which equal places add up, times a dense one.",
     .example = "",
     .flags = kChecksValues | kComplex,
     .shape = coo_mm_shape,
     .gradient = coo_mm_gradient,
     .saved = saves({0, 1, 2, 3}),
     .samples = {
         {"terra.tensor([0, 2, 2]), terra.tensor([1, 0, 3]), randn(3), randn(4, 5), 3"},
         {"terra.tensor([2, 0, 2]), terra.tensor([1, 1, 1]), randn(3), randn(2, 3), 4"},
         {"terra.tensor([1, 0]), terra.tensor([0, 0]), randint(0, 9, (2,)), randint(0, 9, (1, 2)), 2", "int", false}}}};

}  // namespace terra::ops

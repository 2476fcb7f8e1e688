// Outputs of kernels that compute row by row and may be asked for other strides.
#pragma once
#include "kernels/cpu/copy.h"
#include "kernels/cpu/iteration.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {

/// What a kernel writes: the output where it lies if `as_it_lies` says that this will do, else room for its elements
/// row by row, from which `finish` brings them there.
template <class T>
class Written {
 public:
  Written(const View& out, bool as_it_lies, Scratch& scratch)
      : out_(out), copied_(!as_it_lies && !out.is_contiguous()) {
    data = copied_ ? scratch.take<T>(out.numel()) : out.as<T>();
  }
  void finish() const {
    if (!copied_) return;
    int64_t strides[kMaxViewRank], step = 1;
    for (int d = out_.rank; d-- > 0; step *= out_.sizes[d]) strides[d] = step;
    copy_elements(out_, {data, out_.sizes, strides, out_.rank, out_.dtype});
  }

  T* data;

 private:
  const View& out_;
  bool copied_;
};

}  // namespace terra::cpu

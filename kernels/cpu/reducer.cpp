#include "kernels/cpu/reducer.h"

#include <algorithm>
#include <memory>

#include "kernels/abi/parallel.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/halves.h"
#include "kernels/cpu/iteration.h"

namespace terra::cpu {

namespace {

/// Elements of one output that are folded by one thread: a longer fold is split into blocks of this many, which are
/// then merged in order.
constexpr int64_t kRowBlock = 16384;
/// The same when whole rows of outputs are folded at once, in rows.
constexpr int64_t kColumnBlock = 1024;
/// Elements that make a grain.
constexpr int64_t kGrainElements = 64 << 10;
/// A contiguous piece shorter than this is collected in a buffer with its neighbours.
constexpr int64_t kShortPiece = 32;
constexpr int64_t kBuffer = 1024;
/// Elements, and rows of columns, that a reducer folds in the precision of floats before their sums meet in f64.
constexpr int64_t kPassElements = 4096, kPassRows = 64;
/// At least so many rows of at most so many elements are folded as columns, one element of each row at a time.
constexpr int64_t kManyRows = 24, kShortRow = 6;

int64_t blocks_of(int64_t n, int64_t block) { return std::max<int64_t>(1, (n + block - 1) / block); }

/// The space of the outputs (operands: input, output) and that of the elements folded into one of them (operand:
/// input).
struct Spaces {
  Iteration kept, folded;
};

void split_dims(const View& out, const View& in, uint64_t reduced, Spaces& s) {
  const auto in_size = static_cast<int64_t>(size_of(in.dtype)), out_size = static_cast<int64_t>(size_of(out.dtype));
  s.kept.operands = 2;
  s.folded.operands = 1;
  s.kept.data[0] = s.folded.data[0] = in.bytes();
  s.kept.data[1] = out.bytes();
  s.kept.rank = s.folded.rank = 0;
  s.kept.numel = s.folded.numel = 1;
  for (int d = 0; d < in.rank; ++d) {
    Iteration& space = (reduced >> d & 1) ? s.folded : s.kept;
    space.numel *= in.sizes[d];
    if (in.sizes[d] == 1) continue;
    space.sizes[space.rank] = in.sizes[d];
    space.strides[0][space.rank] = in.strides[d] * in_size;
    ++space.rank;
  }
  int64_t step = out_size;
  for (int d = s.kept.rank - 1; d >= 0; --d) {
    s.kept.strides[1][d] = step;
    step *= s.kept.sizes[d];
  }
  simplify(s.kept);
  simplify(s.folded);
}

/// Elements as a reducer meets them: those of 16 bits are widened, a pass of it at a time, so that they are folded in
/// the order of floats that lie alike.
class Source {
 public:
  explicit Source(DType dtype) : size(static_cast<int64_t>(size_of(dtype))), half_(half_loops_of(dtype)) {}

  /// *acc takes in n elements that lie side by side.
  void fold_row(const Reducer& r, void* acc, const char* x, int64_t n) const {
    if (half_ == nullptr) return r.row(acc, x, n);
    alignas(64) float floats[kPassElements];
    for (int64_t i = 0; i < n; i += kPassElements) {
      const int64_t count = std::min(kPassElements, n - i);
      widen(floats, x + i * size, count);
      r.row(acc, floats, count);
    }
  }
  /// acc takes in rows of such elements, which lie `stride` bytes apart.
  void fold_columns(const Reducer& r, void* acc, const char* x, int64_t stride, int64_t rows, int64_t columns) const {
    if (half_ == nullptr) return r.columns(acc, x, stride, rows, columns);
    alignas(64) float floats[kPassRows * kColumns];
    const int64_t step = columns * static_cast<int64_t>(sizeof(float));
    for (int64_t i = 0; i < rows; i += kPassRows) {
      const int64_t count = std::min(kPassRows, rows - i);
      widen_rows(floats, x + i * stride, stride, count, columns);
      r.columns(acc, floats, step, count, columns);
    }
  }
  /// The folds of rows of n such elements, as many as fit a pass, finished side by side.
  void fold_rows(const Reducer& r, char* out, const char* x, int64_t stride, int64_t rows, int64_t n) const {
    if (half_ == nullptr) return r.rows(out, x, stride, rows, n);
    alignas(64) float floats[kPassElements];
    const int64_t together = kPassElements / std::max<int64_t>(1, n), step = n * static_cast<int64_t>(sizeof(float));
    for (int64_t i = 0; i < rows; i += together) {
      const int64_t count = std::min(together, rows - i);
      widen_rows(floats, x + i * stride, stride, count, n);
      r.rows(out + i * static_cast<int64_t>(size_of(r.result)), floats, step, count, n);
    }
  }

  /// What is folded into an output lies side by side as the reducer takes it, and so do the outputs.
  bool folds_rows(const Spaces& s, const Reducer& r) const {
    return (half_ == nullptr || s.folded.numel <= kPassElements) && s.folded.rank == 1 &&
           s.folded.strides[0][0] == size &&
           s.kept.strides[1][s.kept.rank - 1] == static_cast<int64_t>(size_of(r.result));
  }

  const int64_t size;  ///< of an element, in bytes

 private:
  void widen(float* to, const char* from, int64_t n) const {
    char* const data[] = {reinterpret_cast<char*>(to), const_cast<char*>(from)};
    const int64_t strides[] = {sizeof(float), size};
    half_->widen(data, strides, n, nullptr);
  }

  void widen_rows(float* to, const char* from, int64_t stride, int64_t rows, int64_t n) const {
    if (stride == n * size) return widen(to, from, rows * n);
    for (int64_t k = 0; k < rows; ++k) widen(to + k * n, from + k * stride, n);
  }

  const HalfLoops* half_;
};

/// Folds elements [begin, end) of the folded space of the output whose elements lie `offset` bytes on.
void fold_range(const Reducer& r, const Iteration& folded, int64_t offset, int64_t begin, int64_t end,
                const Source& source, void* acc) {
  if (begin == end) return;
  const int64_t size = source.size, stride = folded.strides[0][folded.rank - 1];
  if (stride == size && folded.rank == 1)
    return source.fold_row(r, acc, folded.data[0] + offset + begin * size, end - begin);
  if (stride == size && folded.sizes[folded.rank - 1] >= kShortPiece) {
    for_rows(folded, begin, end, [&](char* const* at, int64_t n) { source.fold_row(r, acc, at[0] + offset, n); });
    return;
  }
  alignas(64) char buffer[kBuffer * kMaxElementSize];
  const RowCopy copy = row_copy(static_cast<size_t>(size));
  int64_t held = 0;
  for_rows(folded, begin, end, [&](char* const* at, int64_t n) {
    for (int64_t done = 0; done < n;) {
      const int64_t count = std::min(n - done, kBuffer - held);
      copy(buffer + held * size, size, at[0] + offset + done * stride, stride, count);
      held += count;
      done += count;
      if (held == kBuffer) {
        source.fold_row(r, acc, buffer, held);
        held = 0;
      }
    }
  });
  if (held > 0) source.fold_row(r, acc, buffer, held);
}

/// One output at a time: its elements lie closer together than the outputs' do.
void reduce_rows(const Reducer& r, const Spaces& s, const Source& source) {
  const int64_t blocks = blocks_of(s.folded.numel, kRowBlock);
  const int64_t per_item = std::max<int64_t>(1, std::min(s.folded.numel, kRowBlock));
  const int64_t grain = std::max<int64_t>(1, kGrainElements / per_item);
  const char* const base = s.kept.data[0];
  const int last = s.kept.rank - 1;
  // Calls body(offset of the input, output) for outputs [begin, end).
  const auto for_outputs = [&](int64_t begin, int64_t end, auto&& body) {
    for_rows(s.kept, begin, end, [&](char* const* at, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        body(at[0] + i * s.kept.strides[0][last] - base, at[1] + i * s.kept.strides[1][last]);
      }
    });
  };
  if (blocks == 1 && source.folds_rows(s, r)) {
    parallel_for(s.kept.numel, grain, [&](int64_t begin, int64_t end) {
      for_rows(s.kept, begin, end, [&](char* const* at, int64_t n) {
        source.fold_rows(r, at[1], at[0], s.kept.strides[0][last], n, s.folded.numel);
      });
    });
    return;
  }
  if (blocks == 1) {
    parallel_for(s.kept.numel, grain, [&](int64_t begin, int64_t end) {
      for_outputs(begin, end, [&](int64_t offset, char* out) {
        alignas(8) char acc[kMaxAccBytes];
        r.start(acc, 1);
        fold_range(r, s.folded, offset, 0, s.folded.numel, source, acc);
        r.finish(out, acc, 1);
      });
    });
    return;
  }
  const auto acc_size = static_cast<int64_t>(r.acc_size);
  const auto parts = std::make_unique<char[]>(static_cast<size_t>(s.kept.numel * blocks * acc_size));
  const auto part = [&](int64_t item) { return parts.get() + item * acc_size; };
  parallel_for(s.kept.numel * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t output = item / blocks, from = item % blocks * kRowBlock;
      for_outputs(output, output + 1, [&](int64_t offset, char*) {
        r.start(part(item), 1);
        fold_range(r, s.folded, offset, from, std::min(from + kRowBlock, s.folded.numel), source, part(item));
      });
    }
  });
  int64_t item = 0;
  for_outputs(0, s.kept.numel, [&](int64_t, char* out) {
    char* const acc = part(item);
    for (int64_t b = 1; b < blocks; ++b) r.merge(acc, part(item + b), 1);
    r.finish(out, acc, 1);
    item += blocks;
  });
}

/// Neighbouring outputs at once: they lie closer together than the elements of one do.
void reduce_columns(const Reducer& r, const Spaces& s, const Source& source) {
  const int64_t size = source.size;
  const int last = s.kept.rank - 1;
  const int64_t width = s.kept.sizes[last];
  const int64_t in_stride = s.kept.strides[0][last], out_stride = s.kept.strides[1][last];
  const auto out_size = static_cast<int64_t>(size_of(r.result));
  const int64_t chunks_per_row = blocks_of(width, kColumns);
  const int64_t chunks = s.kept.numel / width * chunks_per_row;
  const int64_t blocks = blocks_of(s.folded.numel, kColumnBlock);
  const int64_t per_item = std::max<int64_t>(1, std::min(s.folded.numel, kColumnBlock) * std::min(width, kColumns));
  const int64_t grain = std::max<int64_t>(1, kGrainElements / per_item);
  const RowCopy copy = row_copy(static_cast<size_t>(size));
  const RowCopy copy_out = row_copy(static_cast<size_t>(out_size));
  const int folded_last = s.folded.rank - 1;

  const auto chunk_width = [&](int64_t chunk) { return std::min(kColumns, width - chunk % chunks_per_row * kColumns); };
  // Calls body(input, output) at the first column of a chunk.
  const auto at_chunk = [&](int64_t chunk, auto&& body) {
    const int64_t first = chunk / chunks_per_row * width + chunk % chunks_per_row * kColumns;
    for_rows(s.kept, first, first + 1, [&](char* const* at, int64_t) { body(at[0] - s.kept.data[0], at[1]); });
  };
  const auto fold_block = [&](int64_t chunk, int64_t block, void* acc) {
    const int64_t columns = chunk_width(chunk), from = block * kColumnBlock;
    r.start(acc, columns);
    at_chunk(chunk, [&](int64_t offset, char*) {
      for_rows(s.folded, from, std::min(from + kColumnBlock, s.folded.numel), [&](char* const* at, int64_t rows) {
        const char* x = at[0] + offset;
        const int64_t stride = s.folded.strides[0][folded_last];
        if (in_stride == size) {
          source.fold_columns(r, acc, x, stride, rows, columns);
          return;
        }
        alignas(64) char buffer[kColumns * kMaxElementSize];
        for (int64_t k = 0; k < rows; ++k) {
          copy(buffer, size, x + k * stride, in_stride, columns);
          source.fold_columns(r, acc, buffer, 0, 1, columns);
        }
      });
    });
  };
  const auto finish = [&](int64_t chunk, const void* acc) {
    at_chunk(chunk, [&](int64_t, char* out) {
      alignas(64) char results[kColumns * kMaxElementSize];
      r.finish(results, acc, chunk_width(chunk));
      copy_out(out, out_stride, results, out_size, chunk_width(chunk));
    });
  };
  if (blocks == 1 && width <= kColumns && in_stride == size && out_stride == out_size && s.folded.rank == 1) {
    parallel_for(chunks, grain, [&](int64_t begin, int64_t end) {
      for_rows(s.kept, begin * width, end * width, [&](char* const* at, int64_t columns) {
        alignas(64) char acc[kColumns * kMaxAccBytes];
        r.start(acc, columns);
        source.fold_columns(r, acc, at[0], s.folded.strides[0][0], s.folded.numel, columns);
        r.finish(at[1], acc, columns);
      });
    });
    return;
  }
  if (blocks == 1) {
    parallel_for(chunks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        alignas(64) char acc[kColumns * kMaxAccBytes];
        fold_block(chunk, 0, acc);
        finish(chunk, acc);
      }
    });
    return;
  }
  const int64_t part_bytes = std::min(width, kColumns) * static_cast<int64_t>(kMaxAccBytes);
  const auto parts = std::make_unique<char[]>(static_cast<size_t>(chunks * blocks * part_bytes));
  parallel_for(chunks * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) fold_block(item / blocks, item % blocks, &parts[item * part_bytes]);
  });
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    char* const acc = &parts[chunk * blocks * part_bytes];
    for (int64_t b = 1; b < blocks; ++b) r.merge(acc, acc + b * part_bytes, chunk_width(chunk));
    finish(chunk, acc);
  }
}

int64_t inner_step(const Iteration& it) {
  const int64_t stride = it.strides[0][it.rank - 1];
  return stride < 0 ? -stride : stride;
}

}  // namespace

const Reducer* reducer_of(Fold fold, DType dtype) {
  const Reducer* all = is_complex(dtype) ? complex_reducers(dtype) : TERRA_PICK(real_reducers)(dtype);
  if (all == nullptr || all[static_cast<int>(fold)].row == nullptr) return nullptr;
  return all + static_cast<int>(fold);
}

void reduce(const Reducer& reducer, const View& out, const View& in, uint64_t reduced) {
  Spaces s;
  split_dims(out, in, reduced, s);
  if (s.kept.numel == 0) return;
  const Source source(in.dtype);
  const int64_t neighbours = s.kept.sizes[s.kept.rank - 1];
  const bool closer = neighbours > 1 && s.folded.numel > 1 && inner_step(s.kept) < inner_step(s.folded);
  const bool short_rows = s.folded.numel <= kShortRow && neighbours >= kManyRows;
  const bool columns = closer || short_rows;
  if (columns)
    reduce_columns(reducer, s, source);
  else
    reduce_rows(reducer, s, source);
}

}  // namespace terra::cpu

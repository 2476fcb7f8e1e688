// A trace: what one run of a region of the program did to tensors, with no trace of Python left in it.
//
// Values are numbered: inputs first, then the results of records in order. A graph is built by replaying the trace
// through the engine's own front end and tape on symbolic tensors (graph/trace/build.h), so a trace holds user-level
// calls, and composites and gradients expand exactly as they do eagerly.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/ops/call.h"
#include "engine/ops/op.h"
#include "engine/tensor/tensor.h"

namespace terra::graph {

using TraceId = uint32_t;
inline constexpr TraceId kNoValue = ~0u;

/// A tensor or a host scalar that enters the region. What is said here of a tensor has been guarded by the caller.
struct TraceInput {
  enum class Kind : uint8_t { Tensor, Scalar };
  Kind kind = Kind::Tensor;
  std::string name;  ///< "self.fc1.weight": for people

  // Kind::Tensor
  TensorMeta meta;
  Dims strides;
  int64_t offset = 0;
  bool requires_grad = false;
  bool is_leaf = true;
  bool is_inference = false;
  /// Inputs with the same number view the same storage; every other pair is guarded not to overlap.
  uint32_t storage_group = 0;
  /// The input that is this tensor's .grad when the region starts; kNoValue: it has none (guarded).
  TraceId grad = kNoValue;
  /// Sizes, strides and offset are those of the recorded run; another run may come with others of the same rank, and is
  /// served by another instance (graph/cache/shaped.h). Otherwise sizes and strides have been guarded.
  bool free_sizes = false;
  bool exact_offset =
      false;  ///< the offset has been guarded; otherwise it may be any, where no other input shares the storage

  // Kind::Scalar
  Scalar::Kind scalar_kind = Scalar::Kind::Float;
  /// Decides sizes, indices or the like: known when an instance is built, a constant of its graph.
  bool structural = false;
  Scalar value;  ///< structural: in the recorded run
};

/// A host number that is known when an instance is built: a constant, or a numbered value that follows from sizes and
/// structural scalars.
struct TraceNumber {
  TraceId id = kNoValue;
  Scalar constant;  ///< where `id` is kNoValue
};

/// One argument of a recorded call: dynamic values by number, the rest as it is.
struct TraceArg {
  enum class Kind : uint8_t { Constant, Value, ValueList, Integers };
  Kind kind = Kind::Constant;
  TraceId value = kNoValue;  ///< Value: a tensor, or a host scalar (in an int position: a known one)
  std::vector<TraceId>
      list;            ///< ValueList: tensors, kNoValue for None; a sequence of a LoopBody stands for its tensors
  OwnedArgs constant;  ///< Constant: exactly one argument without tensors
  std::vector<TraceNumber> integers = {};  ///< Integers: a list of ints, some of which follow from sizes
  TraceId grown = kNoValue;  ///< ValueList: the number of the program's list that it is, where a loop appended to it
};

/// What the recorded program relied on about a result of a call, where sizes may differ between runs.
struct ResultFact {
  DType dtype = DType::F32;
  size_t rank = 0;
  TraceId same_as =
      kNoValue;  ///< the value whose very tensor the call handed through (contiguous() of a contiguous one)
};

struct CallRecord {
  const Op* op = nullptr;
  bool in_place = false;
  std::vector<TraceArg> args;
  std::vector<TraceId> results;   ///< in_place: the number of the target itself (its identity doesn't change)
  std::vector<ResultFact> facts;  ///< by result; empty where all sizes are facts
  bool constructs = false;        ///< a step of making a tensor of numbers, which the program calls no op for
};
/// The truth of a tensor, or of a number that follows from items, was `expected`; the run is valid only if it is again.
struct AssertRecord {
  TraceId tensor = kNoValue;
  bool expected = false;
};
/// A tensor's only element became host scalar `result` (an output that the host program reads after the run; a graph
/// may use it as a Number argument as well).
struct ItemRecord {
  TraceId tensor = kNoValue;
  TraceId result = kNoValue;
  Scalar::Kind kind = Scalar::Kind::Float;
};
struct CallbackRun;
/// What Python functions did that a pass over the tape called, in order.
using CallbackRuns = std::vector<std::shared_ptr<CallbackRun>>;

/// backward(): gradients of `roots` accumulate into .grad of the leaves among the inputs and fresh leaves.
struct BackwardRecord {
  std::vector<TraceId> roots;
  std::vector<TraceId> gradients;  ///< empty, or one per root (kNoValue: ones)
  bool retain_graph = false;
  bool create_graph = false;
  std::vector<TraceId> inputs;  ///< empty: all leaves
  CallbackRuns runs;
};
/// autograd.grad(): results are the gradients of `inputs` (kNoValue where unused and allowed).
struct GradRecord {
  std::vector<TraceId> roots, gradients, inputs, results;
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;
  bool materialize = false;  ///< zeros where an input was not used
  CallbackRuns runs;
};
/// tensor.grad was read: `result` is that gradient's number from now on (kNoValue: it was None).
struct ReadGradRecord {
  TraceId tensor = kNoValue;
  TraceId result = kNoValue;
};
/// tensor.grad = value (kNoValue: None).
struct WriteGradRecord {
  TraceId tensor = kNoValue;
  TraceId value = kNoValue;
};
struct GradModeRecord {
  GradientModes modes;
};
/// tensor.requires_grad_(value).
struct RequiresGradRecord {
  TraceId tensor = kNoValue;
  bool value = true;
};

/// autograd.Function: a node whose gradient is a callback becomes the history of `outputs`.
struct FunctionRecord {
  uint32_t callback = 0;  ///< number of nodes and hooks alike
  std::string name;
  std::vector<TraceId> inputs, outputs;
  bool saves = false;  ///< its gradient can't be taken twice
  /// The program makes the node itself, when it has the region's results: passes over the tape end there.
  bool outlives = false;
};
/// `result` has the elements of `tensor` and the history of result `index` of a FunctionRecord's node.
struct HistoryRecord {
  /// Of a node that was made before the region: `result` is used where no history is kept, and stays inside.
  static constexpr uint32_t kOutside = ~0u;
  TraceId tensor = kNoValue;
  uint32_t callback = 0;
  uint32_t index = 0;
  TraceId result = kNoValue;
};
/// tensor.register_hook(): the callback takes the gradient and gives another, or none.
struct HookRecord {
  TraceId tensor = kNoValue;
  uint32_t callback = 0;
};
/// tensor.data: `result` is the same memory without history. Writes through it are not counted by the version that the
/// tape checks.
struct DataRecord {
  TraceId tensor = kNoValue;
  TraceId result = kNoValue;
};
struct RetainGradRecord {
  TraceId tensor = kNoValue;
};
/// `result` is a size of a tensor: of dimension `dim`, or the number of its elements.
struct SizeRecord {
  static constexpr int32_t kElements = -1;
  TraceId tensor = kNoValue;
  int32_t dim = 0;
  TraceId result = kNoValue;
};
/// Arithmetic of the host program on numbers that follow from sizes, as Python defines it: integers are exact (or the
/// replay fails), comparisons give bools.
struct NumberRecord {
  enum class Op : uint8_t {
    // of a and b
    Add,
    Subtract,
    Multiply,
    FloorDivide,
    Modulo,
    TrueDivide,
    Power,
    Minimum,
    Maximum,
    Less,
    LessEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
    // of a
    Negate,
    SquareRoot,
    ToInt,
    ToFloat,
  };
  Op op = Op::Add;
  TraceNumber a, b;
  TraceId result = kNoValue;
};
/// Something that the program was told about sizes and that decided what it did: the trace stands for runs in which
/// it is so again.
struct FactRecord {
  enum class What : uint8_t {
    Number,      ///< a known number is of this kind and has these bits
    Contiguous,  ///< is_contiguous() of a tensor
    Strides,     ///< stride() of a tensor
  };
  What what = What::Number;
  TraceId value = kNoValue;
  std::vector<int64_t> expected;
};

struct LoopBody;
/// Rounds of a loop of the program, where their number differs between runs (roll.h).
struct LoopRecord {
  std::shared_ptr<LoopBody> body;
};

struct BranchBody;
/// The truth of a tensor, or of a number that only a run knows, chooses what a round of a loop does (fold.h).
struct BranchRecord {
  TraceId truth = kNoValue;
  std::shared_ptr<BranchBody> body;
};

struct TraceRecord {
  std::variant<CallRecord, AssertRecord, ItemRecord, BackwardRecord, GradRecord, ReadGradRecord, WriteGradRecord,
               GradModeRecord, RequiresGradRecord, FunctionRecord, HistoryRecord, HookRecord, DataRecord,
               RetainGradRecord, SizeRecord, NumberRecord, FactRecord, LoopRecord, BranchRecord>
      what;
  std::string file;  ///< of the Python line, for errors and the printed graph
  int line = 0;

  /// The program calls an op there.
  bool is_op_call() const {
    const auto* call = std::get_if<CallRecord>(&what);
    return call && !call->constructs;
  }
};

/// One call of a callback.
struct CallbackRun {
  uint32_t callback = 0;
  std::vector<TraceId> gradients;  ///< kNoValue: none arrived, or one that has a number already
  std::vector<TraceRecord> records;
  std::vector<TraceId> results;  ///< kNoValue: none
};

/// What a loop does in each round. A round begins with the carried values, goes through the records in order and ends
/// at the exit or with the last record. Numbers that records define are defined again in each round.
struct LoopBody {
  /// `inner` is `init` in the first round and what `next` was in the round before in any other.
  struct Carried {
    TraceId init = kNoValue, inner = kNoValue, next = kNoValue;
  };
  /// After the loop `outer` is what `inner` was when the loop was left.
  struct Left {
    TraceId inner = kNoValue, outer = kNoValue;
  };
  /// After the loop `sequence` stands for the tensors that `inner` were in each full round, round by round. Among them
  /// may be sequences of loops inside.
  struct Collected {
    std::vector<TraceId> inner;
    TraceId sequence = kNoValue;
    size_t items = 0;  ///< how many tensors it stood for in the recorded run
  };
  std::vector<Carried> carried;
  std::vector<TraceRecord> records;
  size_t exit = 0;  ///< the fact or assert among the records at which the loop is left when it isn't so
  std::vector<Left> left;
  std::vector<Collected> collected;

  /// Only a tensor's value says how many rounds there are.
  bool ends_by_value() const { return std::holds_alternative<AssertRecord>(records[exit].what); }
};

/// Two ways, of which a run goes one. Numbers that a way defines are its own.
struct BranchBody {
  /// Behind the ways `outer` is what one of these was at the end of the way gone.
  struct Result {
    TraceId of[2] = {kNoValue, kNoValue};
    TraceId outer = kNoValue;
  };
  std::vector<TraceRecord> ways[2];  ///< by truth
  std::vector<Result> results;
};

/// Where the program was when it asked for a truth. Paths of one region that come to the same place go on alike from
/// there, whichever way they came: what they do follows from the place, from the values and from what the region met.
struct TraceMark {
  std::vector<uint64_t> place;  ///< empty: nothing can be said
  std::vector<TraceId> values;  ///< that the program holds, in an order which the place determines
};

/// Storages of inputs that in-place records wrote are written at the commit point; `outputs` are handed out.
struct Trace {
  std::string name;  ///< of the function, for people
  std::vector<TraceInput> inputs;
  std::vector<std::pair<TraceId, Tensor>> constants;  ///< numbers after the inputs, before the first record's results
  std::vector<TraceRecord> records;
  std::vector<TraceId> outputs;  ///< tensors, items and known integers that the region hands to Python
  GradientModes modes;           ///< when the region starts (guarded)
  uint32_t values = 0;           ///< numbers used
  std::vector<TraceMark> marks;  ///< by assert; fewer where some weren't recorded one by one

  static constexpr size_t kInside = ~size_t{0};
  /// Which of `records` it is; kInside: it is one of a loop or a branch.
  size_t number_of(const TraceRecord& record) const {
    const std::less<const TraceRecord*> before;
    const bool inside = before(&record, records.data()) || !before(&record, records.data() + records.size());
    return inside ? kInside : static_cast<size_t>(&record - records.data());
  }
};

/// Readable text, one record a line.
std::string to_string(const Trace& trace);

}  // namespace terra::graph

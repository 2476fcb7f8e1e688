#include "graph/coexec/segment.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <utility>

#include "engine/autograd/pass.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/replaced_args.h"
#include "engine/tensor/kept_bytes.h"
#include "engine/tensor/sparse.h"
#include "kernels/abi/half.h"

namespace terra::coexec {
namespace {

constexpr uint32_t kInput = PendingValue::kInput;

bool same_place(const TensorImpl& t, const TensorImpl& other) {
  return t.dtype == other.dtype && t.offset == other.offset && t.sizes == other.sizes && t.strides == other.strides;
}
bool same_place(const TensorImpl& t, const ResultMeta& meta) {
  return t.dtype == meta.dtype && t.offset == meta.offset && t.sizes == meta.sizes && t.strides == meta.strides;
}

void append(std::vector<uint64_t>& words, std::span<const int64_t> numbers) {
  words.push_back(numbers.size());
  for (int64_t n : numbers) words.push_back(static_cast<uint64_t>(n));
}

void append_constant(std::vector<uint64_t>& words, const Arg& constant) {
  words.push_back(static_cast<uint64_t>(constant.kind()));
  switch (constant.kind()) {
    case Arg::Kind::Scalar:
      words.push_back(static_cast<uint64_t>(constant.scalar().kind()));
      words.push_back(constant.scalar().is_float() ? std::bit_cast<uint64_t>(constant.scalar().to_double())
                                                   : static_cast<uint64_t>(constant.scalar().to_int()));
      break;
    case Arg::Kind::IntList: append(words, constant.ints()); break;
    case Arg::Kind::DType: words.push_back(static_cast<uint64_t>(constant.dtype())); break;
    case Arg::Kind::String:
      words.push_back(constant.text().size());
      for (char c : constant.text()) words.push_back(static_cast<unsigned char>(c));
      break;
    default: break;
  }
}

/// What somebody outside may write at any time is read when the call is made: a copy, which lies as the original does.
/// Larger ones are not copied.
constexpr size_t kMostCopied = size_t{16} << 20;

size_t bytes_shown(const TensorImpl& t) {
  return static_cast<size_t>(storage_reach(t.sizes, t.strides, 0)) * size_of(t.dtype);
}

Tensor copied(const TensorImpl& t) {
  Ref<Storage> bytes = Storage::allocate(bytes_shown(t));
  std::memcpy(bytes->data(),
              static_cast<const char*>(t.storage->data()) + static_cast<size_t>(t.offset) * size_of(t.dtype),
              bytes->bytes());
  Tensor copy = Tensor::view_of(bytes, t.dtype, t.sizes, t.strides, 0);
  copy->wrapped_number = t.wrapped_number;
  return copy;
}

/// A number that the program may have computed: another one the next time, in the same graph.
bool is_number(const Param& param, const Arg& arg) {
  return arg.kind() == Arg::Kind::Scalar && arg.scalar().kind() != Scalar::Kind::Bool &&
         (param.type == ParamType::Number || param.type == ParamType::TensorOrNumber);
}

}  // namespace

Segment::~Segment() {
  try {
    runner_.finish_all();
  } catch (...) {  // those who ask for what is missing hear of it
  }
  for (const PendingInput& input : pending_.inputs) input.tensor->storage->defer_to(nullptr, 0);
  if (deferred_work() == this) set_deferred_work(nullptr);
}

// ---- calls ----

void Segment::emit(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                   std::vector<Tensor>& results) {
  if (is_at_rest()) return default_emitter().emit(op, args, metas, results);
  if (op.is(kView)) {
    default_emitter().emit(op, args, metas, results);
    return follow_views(op, args, metas);
  }
  if (!open_ || metas.empty() || !takes(op)) return default_emitter().emit(op, args, metas, results);
  const Kind kind = kind_of(op, args, metas, false);
  if (!kind.may_wait) return default_emitter().emit(op, args, metas, results);
  if (!has_run(kind.word)) {
    default_emitter().emit(op, args, metas, results);
    has_run_.insert(kind.word);
    return;
  }
  if (pending_.calls.size() >= kMostCalls) way_ == Way::Inline ? compute_here() : hand_over();
  if (!kind.reads_exported) return emit_later(op, args, metas, results);
  const ReplacedArgs fed(args, [](const Tensor& t) { return t->storage->exported() ? copied(*t) : t; });
  emit_later(op, fed.args(), metas, results);
}

/// Put off, unless what it reads or checks isn't there yet.
void Segment::emit_later(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                         std::vector<Tensor>& results) {
  if ((op.is(kChecksValues) && !passes_checks(op, args, metas)) || !find_operands(args))
    return default_emitter().emit(op, args, metas, results);
  put_off(op, args, metas, results);
}

/// Inline, the bytes that are read and written are asked for, and what has been put off is computed before.
void Segment::emit_write(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                         std::span<const Tensor> targets) {
  if (open_ && way_ != Way::Inline && put_off_write(op, args, metas, targets)) return;
  default_emitter().emit_write(op, args, metas, targets);
  if (open_ && way_ != Way::Inline) has_run_.insert(kind_of(op, args, metas, true).word);
}

/// A job of its own, behind what has been put off before. False: it has to run now.
bool Segment::put_off_write(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                            std::span<const Tensor> targets) {
  const auto is_plain = [](const Tensor& t) {
    return t.defined() && t->storage && !t->storage->exported() && !is_kept(*t->storage) && t.device().is_cpu() &&
           !is_half(t.dtype()) && !is_sparse(*t);
  };
  if (op.is(kChecksValues) || !takes(op) || !std::all_of(targets.begin(), targets.end(), is_plain)) return false;
  const Kind kind = kind_of(op, args, metas, true);
  if (!kind.may_wait || kind.reads_exported || !has_run(kind.word)) return false;
  hand_over();
  bool found = find_operands(args);
  for (const Tensor& target : targets) {
    const PendingValue value = found ? find(*target) : PendingValue{};
    found = found && !value.is_absent();
    pending_.targets.push_back(value.index());
  }
  if (!found) {
    pending_.targets.clear();
    compute_here();
    return false;
  }
  record(op, args, 0);
  pending_.metas.assign(metas.begin(), metas.end());
  pending_.computing++;
  counts_.put_off++;
  hand_over();
  for (const Tensor& target : targets) target->storage->bump_version();
  return true;
}

/// Now.
bool Segment::takes(const Op& op) {
  return !op.is(kHost | kRandom) && (!deferred_work() || deferred_work() == this) && current_device().is_cpu();
}

/// What a kernel checks are integers: indices, targets. It checks them now, in a call whose other operands are zeros of
/// the same sizes; it throws what it would throw later. False: they are still to be computed. A pass over the tape
/// has them from the call that it goes back through.
bool Segment::passes_checks(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas) const {
  if (autograd::pass_under_way()) return true;
  bool integers = false, ready = true;
  for (const Arg& a : args) ready = ready && a.kind() != Arg::Kind::TensorList;
  each_tensor(args, [&](const TensorImpl& t) {
    if (is_inexact(t.dtype)) return;
    integers = true;
    ready = ready && is_ready(t);
  });
  if (!integers || !ready) return false;
  const Ref<Storage> zeros = Storage::allocate(kMaxElementSize);
  std::memset(zeros->data(), 0, kMaxElementSize);
  const ReplacedArgs likes(args, [&zeros](const Tensor& t) {
    if (is_inexact(t.dtype())) return Tensor::view_of(zeros, t.dtype(), t.sizes(), Dims(t.rank(), 0), 0);
    return Tensor::view_of(lent(*t->storage), t.dtype(), t.sizes(), t.strides(), t->offset);
  });
  std::vector<Tensor> results;
  const GradMode off(false);
  default_emitter().emit(op, likes.args(), metas, results);
  return true;
}

/// The bytes are there, and nothing that has been put off is going to write them.
bool Segment::is_ready(const TensorImpl& tensor) const {
  const Storage& storage = *tensor.storage;
  if (!storage.deferral()) return true;
  if (storage.deferral() == this) {
    if (!(storage.ticket() & kInput)) return false;
    const Job::Source& source = sources_[storage.ticket() & ~kInput];
    return !source.job || source.job->is_taken();
  }
  const std::shared_ptr<Job> job = runner_.job_of(storage.deferral());
  return job && !job->source(job, storage.ticket()).job;
}

bool Segment::has_run(uint64_t kind) {
  uint64_t& known = known_to_run_[kind >> 56];
  if (known == kind) return true;
  if (!has_run_.contains(kind)) return false;
  known = kind;
  return true;
}

Segment::Kind Segment::kind_of(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas, bool write) {
  Kind kind{static_cast<uint64_t>(op.id) << 1 | write, true, false};
  const auto add = [&kind](uint64_t word) { kind.word = kind.word * 0x9e3779b97f4a7c15 + word + 1; };
  const auto refuse_if = [&kind](bool yes) { kind.may_wait = kind.may_wait && !yes; };
  bool tensors = false;
  const auto read = [&](const TensorImpl& t) {
    tensors = true;
    add(static_cast<uint64_t>(t.dtype) << 8 | t.sizes.size());
    refuse_if(!t.storage || is_sparse(t) || !t.device.is_cpu());
    if (!t.storage || !t.storage->exported()) return;
    kind.reads_exported = true;
    refuse_if(bytes_shown(t) > kMostCopied);
  };
  for (const Arg& a : args) {
    switch (a.kind()) {
      case Arg::Kind::Tensor: read(*a.impl()); break;
      case Arg::Kind::TensorList: each_tensor(std::span(&a, 1), read); break;
      case Arg::Kind::Scalar: refuse_if(a.scalar().is_complex() || a.scalar().kind() == Scalar::Kind::Unsigned); break;
      case Arg::Kind::DType: refuse_if(is_half(a.dtype())); break;
      case Arg::Kind::Generator: refuse_if(true); break;
      default: break;
    }
  }
  for (const ResultMeta& m : metas) {
    add(static_cast<uint64_t>(m.dtype));
    refuse_if(!m.device.is_cpu() || is_half(m.dtype) || std::find(m.sizes.begin(), m.sizes.end(), 0) != m.sizes.end());
  }
  refuse_if(!tensors);
  return kind;
}

void Segment::put_off(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                      std::vector<Tensor>& results) {
  record(op, args, static_cast<uint32_t>(metas.size()));
  for (const ResultMeta& m : metas) {
    const auto number = static_cast<uint32_t>(pending_.results.size());
    const auto bytes = static_cast<size_t>(checked_numel(m.sizes)) * size_of(m.dtype);
    PendingResult& result = pending_.results.emplace_back(Storage::deferred(bytes, *this, number), m);
    if (m.strides.empty()) result.meta.strides = contiguous_strides(m.sizes);
    result.meta.offset = 0;
    results.push_back(Tensor::view_of(result.storage, m.dtype, m.sizes, result.meta.strides, 0));
  }
  pending_.computing++;
  counts_.put_off++;
  set_deferred_work(this);
}

/// Views of results of pending calls are made at once, and known to be views.
void Segment::follow_views(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas) {
  const TensorImpl& base = *args[0].impl();
  if (!base.storage || base.storage->deferral() != this || base.storage->ticket() & kInput) return;
  const PendingValue of = find_result(base);
  const bool simple = std::all_of(args.begin() + 1, args.end(), [](const Arg& a) {
    return !a.is_tensor() && a.kind() != Arg::Kind::TensorList && a.kind() != Arg::Kind::Generator;
  });
  if (of.is_absent() || !simple) return;
  operands_.assign(1, of);
  record(op, args, static_cast<uint32_t>(metas.size()));
  const uint32_t whole = base.storage->ticket();
  for (const ResultMeta& m : metas) {
    pending_.results[whole].views.push_back(static_cast<uint32_t>(pending_.results.size()));
    pending_.results.push_back({nullptr, m});
  }
}

/// With `operands_` as those of its arguments that are tensors.
void Segment::record(const Op& op, std::span<const Arg> args, uint32_t results) {
  std::vector<uint64_t>& words = pending_.signature;
  PendingCall& call = pending_.calls.emplace_back();
  call.op = &op;
  call.first_arg = static_cast<uint32_t>(pending_.args.size());
  call.args = static_cast<uint32_t>(args.size());
  call.first_result = static_cast<uint32_t>(pending_.results.size());
  call.results = results;
  words.push_back(static_cast<uint64_t>(op.id) << 32 | results);
  size_t next = 0;
  bool constants = false;
  for (size_t i = 0; i < args.size(); i++) {
    const Arg& a = args[i];
    PendingArg arg;
    if (a.is_tensor() || a.kind() == Arg::Kind::TensorList) {
      arg.kind = a.is_tensor() ? PendingArg::Kind::Tensor : PendingArg::Kind::TensorList;
      arg.first = static_cast<uint32_t>(pending_.operands.size());
      arg.count = a.is_tensor() ? 1 : static_cast<uint32_t>(a.tensors().size());
      words.push_back(static_cast<uint64_t>(a.kind()) << 32 | arg.count);
      for (uint32_t n = 0; n < arg.count; n++) {
        words.push_back(operands_[next].number);
        pending_.operands.push_back(operands_[next++]);
      }
    } else if (is_number(op.sig().params[i], a)) {
      arg = {PendingArg::Kind::Number, static_cast<uint32_t>(pending_.numbers.size()), 1};
      words.push_back(~static_cast<uint64_t>(a.scalar().kind()));
      pending_.numbers.push_back(a.scalar());
    } else {
      append_constant(words, a);
      constants = constants || !a.is_none();
    }
    pending_.args.push_back(arg);
  }
  if (constants) call.constants = OwnedArgs(args, 0);
}

// ---- operands ----

/// Of the call: `operands_`. False: one of them can't be read by calls that are put off.
bool Segment::find_operands(std::span<const Arg> args) {
  std::vector<PendingValue>& found = operands_;
  found.clear();
  for (const Arg& a : args) {
    if (a.is_tensor()) {
      found.push_back(find(*a.impl()));
      if (found.back().is_absent()) return false;
    } else if (a.kind() == Arg::Kind::TensorList) {
      for (const Tensor& t : a.tensors()) {
        found.push_back(t.defined() ? find(*t) : PendingValue{});
        if (t.defined() && found.back().is_absent()) return false;
      }
    }
  }
  return true;
}

/// Absent: a tensor that calls that are put off can't read.
PendingValue Segment::find(const TensorImpl& tensor) {
  const Storage& storage = *tensor.storage;
  if (storage.deferral() != this) return find_input(tensor);
  return storage.ticket() & kInput ? known_input(tensor, storage.ticket() & ~kInput) : find_result(tensor);
}

PendingValue Segment::find_result(const TensorImpl& tensor) const {
  const uint32_t number = tensor.storage->ticket();
  const PendingResult& whole = pending_.results[number];
  if (whole.storage != tensor.storage) return {};  // the same bytes, with another version
  if (same_place(tensor, whole.meta)) return {number};
  for (uint32_t view : whole.views)
    if (same_place(tensor, pending_.results[view].meta)) return {view};
  return {};
}

/// A storage that pending calls read already.
PendingValue Segment::known_input(const TensorImpl& tensor, uint32_t number) {
  for (;;) {
    PendingInput& known = pending_.inputs[number];
    if (known.tensor->storage != tensor.storage) return {};  // the same bytes, with another version
    if (same_place(tensor, *known.tensor)) return {number | kInput};
    if (known.other == PendingValue::kAbsent) {
      known.other = static_cast<uint32_t>(pending_.inputs.size());
      return add_input(tensor, sources_[number]);
    }
    number = known.other;
  }
}

PendingValue Segment::find_input(const TensorImpl& tensor) {
  Storage& storage = *tensor.storage;
  Job::Source source;
  if (Deferral* const work = storage.deferral()) {
    const std::shared_ptr<Job> job = runner_.job_of(work);
    if (!job || job->storage(storage.ticket()) != tensor.storage) return {};  // the same bytes, with another version
    source = job->source(job, storage.ticket());
  }
  Deferral* const before = storage.deferral();
  const uint32_t ticket = storage.ticket();
  storage.defer_to(this, static_cast<uint32_t>(pending_.inputs.size()) | kInput);
  if (storage.deferral() != this) {  // bytes that another storage has
    storage.defer_to(before, ticket);
    return {};
  }
  return add_input(tensor, source);
}

PendingValue Segment::add_input(const TensorImpl& tensor, const Job::Source& source) {
  const auto number = static_cast<uint32_t>(pending_.inputs.size());
  pending_.inputs.push_back({Tensor(Ref<TensorImpl>(const_cast<TensorImpl*>(&tensor))).alias()});
  sources_.push_back(source);
  set_deferred_work(this);
  std::vector<uint64_t>& words = pending_.signature;
  words.push_back(static_cast<uint64_t>(tensor.dtype) << 32 | uint64_t{tensor.wrapped_number} << 16 | 0xffff);
  append(words, tensor.sizes);
  append(words, tensor.strides);
  return {number | kInput};
}

// ---- computing ----

/// On this thread, now.
void Segment::compute_here() {
  runner_.finish_all();
  if (pending_.empty()) return;
  Pending batch = std::exchange(pending_, runner_.spare());
  sources_.clear();
  for (const PendingInput& input : batch.inputs)
    if (Storage& read = *input.tensor->storage; read.deferral() == this) read.defer_to(nullptr, 0);
  const std::vector<uint32_t> wanted = batch.wanted();
  if (wanted.empty()) return;
  counts_.settled++;
  try {
    const EmitterScope eager(default_emitter());
    const GradMode off(false);
    std::vector<Tensor> made;
    if (graphs_.run(batch, wanted, made)) {
      counts_.by_graph++;
      counts_.inputs += batch.inputs.size();
    }
    for (size_t i = 0; i < wanted.size(); i++) deliver(batch.results[wanted[i]], made[i]);
    runner_.keep(std::move(batch));
  } catch (...) {
    for (uint32_t i : wanted)
      if (batch.results[i].storage->deferral() == this) batch.results[i].storage->fail(std::current_exception());
    throw;
  }
}

/// Beside the program, when what was handed over before is done.
void Segment::hand_over() {
  if (pending_.empty()) return;
  auto job = std::make_shared<Job>(std::exchange(pending_, runner_.spare()), sources_, runner_);
  sources_.clear();
  set_deferred_work(this);
  runner_.hand_over(std::move(job));
  if (way_ == Way::Serial) runner_.finish_all();
}

void Segment::settle() {
  if (pending_.empty() && runner_.is_idle()) return;
  if (runner_.is_idle()) {
    compute_here();
  } else {
    hand_over();
    counts_.settled++;
    const std::shared_ptr<Job> last = runner_.is_idle() ? nullptr : runner_.last();
    runner_.finish_all();
    if (last && last->error()) std::rethrow_exception(last->error());  // who asked may have asked for what it makes
  }
  if (deferred_work() == this) set_deferred_work(nullptr);
}

void Segment::end_iteration() {
  if (way_ == Way::Inline) return settle();
  hand_over();
  runner_.take_done();
  std::erase_if(ahead_, [](const std::shared_ptr<Job>& job) { return job->is_taken(); });
  if (runner_.is_idle()) return;
  ahead_.push_back(runner_.last());
  for (; ahead_.size() > kMostAhead; ahead_.pop_front()) runner_.finish(ahead_.front());
}

Segment::Counts Segment::counts() const {
  Counts all = counts_;
  const GraphRunner::Counts& beside = runner_.counts();
  all.settled += beside.fetched;
  all.by_graph += beside.by_graph;
  all.inputs += beside.inputs;
  all.jobs = beside.jobs;
  all.worked_us = beside.worked_us;
  all.waited_us = beside.waited_us;
  return all;
}

}  // namespace terra::coexec

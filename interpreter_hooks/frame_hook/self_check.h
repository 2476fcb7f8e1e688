// The engine checks itself: in auto, the first replays of an entry by each way, and then ever fewer, are compared with
// plain execution as --capture=verify compares all of them.
//
// A check runs the guards that this way runs and binds what this way binds, computes on copies of the inputs, has the
// frame interpreted, gives the interpreter's result to the program and compares. So it changes nothing but the time the
// call takes. An entry that is wrong goes, with its function (reason 30). Where rounding could explain what differs,
// how far rounding moves the results is measured in the next two calls, which are interpreted as well.
//
// Not checked are entries that end in the middle of a frame or read a clock, and those that would copy too much; no
// verdict is given where a handler or another thread has come in between. Frames below a frame that is checked run
// plainly. TERRA_SELF_CHECK=off: nothing is checked; all (for tests, in auto and stress): everything that can be.
#pragma once
#include "interpreter_hooks/frame_hook/code_record.h"
#include "interpreter_hooks/frame_hook/stopwatch.h"
#include "interpreter_hooks/verify/verify.h"

#include <functional>

namespace terra::capture {

/// Of the process.
inline constinit CheckAccount process_account;
inline CheckAccount& check_account() { return process_account; }

/// How many bytes a check may copy now.
size_t most_copied();

/// Checks under way on the thread (0 or 1). While there is one, the thread's frames run plainly.
inline thread_local constinit int checks_of_thread = 0;

/// A check is due: whether it is to be made. Else it is put off. `inputs` are the graph's as far as they are known.
bool takes_check(Entry& entry, Way way, const std::vector<TensorImpl*>& inputs);

/// One check, from its rehearsal to its verdict. What it takes goes to the accounts, and is no part of
/// the time of any call.
class Check final : public Verification {
 public:
  Check(std::shared_ptr<Entry> entry, Way way);
  ~Check() override;

  bool convicts(const std::optional<Difference>& difference) override;

 private:
  const Stopwatch watch_;
  const Way way_;
  const size_t peak_before_;  ///< bytes
};

/// Has a call that an entry could have served interpreted, and compares. The result is the interpreter's.
PyObject* interpret_and_compare(CodeRecord& record, Verification& verification,
                                const std::function<PyObject*()>& interpret);
/// An entry is wrong: its function runs plainly from now on. Strict: an exception is set.
void convict(CodeRecord& record, const std::string& what);

}  // namespace terra::capture

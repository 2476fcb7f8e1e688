#include "interpreter_hooks/recorder/reasons.h"

namespace terra::capture {

namespace {

constexpr ReasonText texts[static_cast<int>(Reason::Count_)] = {
    {"captured", ""},
    {"the frame raised an exception", "only runs that return are captured"},
    {"is not an ordinary function frame", "class bodies, module code, generators and coroutines run plainly"},
    {"does no tensor work", "its callers and callees are looked at on their own"},
    {"calls something that is not modelled", "move the call out of the hot function, or leave it to co-execution"},
    {"uses an instruction that is not modelled", ""},
    {"uses an operator on objects that are not modelled", ""},
    {"reads or writes an attribute in a way that is not modelled", ""},
    {"iterates over something that is not modelled", "lists, tuples, dicts, ranges, enumerate and zip are"},
    {"uses a container in a way that is not modelled", ""},
    {"uses a value whose origin is unknown", ""},
    {"handles an object with a finalizer", "its destructor would run at another time"},
    {"runs Python code from inside an instruction", "a destructor, __eq__ or __hash__ of the program"},
    {"lets an object escape that cannot be rebuilt", "a function, iterator or cyclic structure made inside"},
    {"resumes a generator that was made elsewhere", ""},
    {"is watched by a debugger or profiler", "detach it to capture"},
    {"is too long for one recording", ""},
    {"was recorded out of step with the interpreter", "please report this"},
    {"keeps missing its entries", "some fact changes on every call; see the misses"},
    {"does something to a tensor that a graph cannot express", ""},
    {"was refused by the graph compiler", ""},
    {"imports inside the frame", "move the import to the top of the module"},
    {"computes with a number taken from a tensor and gives it back to one", "keep it a tensor: leave out .item()"},
    {"is recorded again: a fact that it overwrites becomes an input", ""},
    {"used tensors in another thread", ""},
    {"uses memory that somebody outside the engine can see", ""},
    {"uses gradient state that is not modelled", ""},
    {"met an internal error of the recorder", "please report this"},
    {"raises and catches an exception that no guard can foretell", "test for the condition instead of catching"},
};

}  // namespace

const ReasonText& reason_text(Reason reason) { return texts[static_cast<int>(reason)]; }

std::string Stop::text() const {
  std::string result = reason_text(reason).text;
  return detail.empty() ? result : result + ": " + detail;
}

}  // namespace terra::capture

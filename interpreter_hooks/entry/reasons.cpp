#include "interpreter_hooks/entry/reasons.h"

namespace terra::capture {

namespace {

constexpr ReasonText texts[static_cast<int>(Reason::Count_)] = {
    {"captured", "nothing to do", "y = model(x)"},
    {"the frame raised an exception", "only runs that return are captured", "raise ValueError(x.shape)"},
    {"is not an ordinary function frame", "class bodies, module code, generators and coroutines run plainly",
     "def batches(xs): yield from xs"},
    {"does no tensor work", "its callers and callees are looked at on their own",
     "def mean(numbers): return sum(numbers) / len(numbers)"},
    {"calls something that is not modelled", "move the call out of the hot function, or leave it to co-execution",
     "os.getpid()"},
    {"uses an instruction that is not modelled", "move it out of the hot function", "class Local: pass"},
    {"uses an operator on objects that are not modelled",
     "numbers, strings, lists, tuples, tensors and classes in Python are", "x @ matrix_of_mine"},
    {"reads or writes an attribute in a way that is not modelled",
     "read it before the hot function and pass the value in", "x.grad_fn.next_functions"},
    {"iterates over something that is not modelled", "lists, tuples, dicts, ranges, enumerate and zip are",
     "for line in file: ..."},
    {"uses a container in a way that is not modelled",
     "lists, tuples and dicts with keys that are numbers or strings are", "del names[1:3]"},
    {"uses a value whose origin is unknown", "pass it as an argument, or keep it in a list, dict or attribute",
     "x * sys.argv"},
    {"handles an object with a finalizer", "its destructor would run at another time",
     "handle = Connection()  # has __del__"},
    {"runs Python code from inside an instruction", "a destructor, __eq__ or __hash__ of the program",
     "table[key]  # key.__eq__ is Python"},
    {"lets an object escape that cannot be rebuilt", "a function, iterator or cyclic structure made inside",
     "return (x * k for k in range(3))"},
    {"resumes a generator that was made elsewhere", "take the item outside and pass it in", "x * next(self.stream)"},
    {"is watched by a debugger or profiler", "detach it to capture", "sys.settrace(trace)"},
    {"is too long for one recording", "capture the body of its loop as a function of its own",
     "for i in range(10_000_000): total += i"},
    {"was recorded out of step with the interpreter", "please report this", "-"},
    {"keeps missing its entries", "some fact changes on every call; see the misses",
     "def f(x, tag): return x, tag  # another tag on every call"},
    {"does something to a tensor that a graph cannot express", "move it out of the hot function", "x.tolist()"},
    {"was refused by the graph compiler", "please report this", "-"},
    {"imports inside the frame", "move the import to the top of the module", "import json  # for the first time"},
    {"computes with a number taken from a tensor and gives it back to one", "keep it a tensor: leave out .item()",
     "y * x.item() ** 2"},
    {"is recorded again: a fact that it overwrites becomes an input, or an input a fact",
     "nothing is wrong: the next call is recorded", "self.steps += 1"},
    {"starts another thread", "start it outside, and let it call the function as a whole",
     "threading.Thread(target=train).start()"},
    {"uses memory that somebody outside the engine can see", "clone the tensor first", "x.numpy()"},
    {"uses gradient state that is not modelled", "compute the loss and call backward() in one function",
     "x.grad = None"},
    {"met an internal error of the recorder", "please report this", "-"},
    {"raises and catches an exception that no guard can foretell", "test for the condition instead of catching",
     "try: x @ y\nexcept RuntimeError: ..."},
    {"is slower captured than run plainly", "nothing is wrong: it was measured and runs plainly from now on", "x + 1"},
    {"was found wrong when it was compared with plain execution",
     "please report this; @terra.capture.off keeps the function uncaptured", "-"},
    {"calls a function that calls itself", "nothing is wrong: each of its calls is captured by itself",
     "encode(tree.left)"},
};

}  // namespace

const ReasonText& reason_text(Reason reason) { return texts[static_cast<int>(reason)]; }

std::string Stop::text() const {
  std::string result = reason_text(reason).text;
  return detail.empty() ? result : result + ": " + detail;
}

}  // namespace terra::capture

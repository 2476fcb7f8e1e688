// One recording: CPython runs a frame for real, and this object watches.
//
// The life of a recording: begin(frame) makes the root's shadow frame; every instruction event goes to `instruction`
// (step.cpp), which finishes the instruction before it and begins the next by the rules (rules.h); Python frames below
// enter and leave through `enter` and `leave`; tensor operations report themselves (observer.cpp); finish() turns what
// was seen into an Entry. Stopping costs nothing: CPython simply goes on.
#pragma once
#include "interpreter_hooks/entry/entry.h"
#include "interpreter_hooks/entry/error_indicator.h"
#include "interpreter_hooks/entry/reasons.h"
#include "interpreter_hooks/entry/speculation.h"
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/kinds.h"
#include "interpreter_hooks/recorder/core/cuts.h"
#include "interpreter_hooks/recorder/core/frames.h"
#include "interpreter_hooks/recorder/core/held_objects.h"
#include "interpreter_hooks/recorder/core/own_time.h"
#include "interpreter_hooks/recorder/core/shadow.h"
#include "interpreter_hooks/recorder/heap/live_iterators.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace terra::capture {

class Phis;
class Loops;
class ValueNumbers;
class TraceBuilder;

/// Immutable and one of a kind in the process: comparing addresses is comparing values.
bool is_unchanging(PyObject* object);
/// What a bound method of a C type was made from (borrowed); null for anything else.
PyObject* descriptor_of(PyObject* method);
/// A descriptor in C is looked up under its own name: a class may have it under another one too.
bool is_named(PyObject* descriptor, PyObject* name);

/// A deferred write, in program order.
struct Write {
  Effect effect;
  Value target;
  PyObject* name = nullptr;  ///< attribute name or dict key (held)
  Value value;
  std::vector<Value> arguments;  ///< CallMethod
  std::string path;              ///< of what is overwritten; empty where nothing is
  Value key;                     ///< the dict key `name` where it is an object compared by identity
  PyObject* keywords = nullptr;  ///< CallMethod: names of the last arguments (a tuple, held)
  bool replaces = false;         ///< an attribute that the frame has read before
  bool drops_number = false;     ///< a number, a string, None, or nothing at all is there in each run
};

/// Both store to the same place, one that only one store has to be made to.
bool stores_again(const Write& a, const Write& b);
/// Several stores to one place as one, at the position of the first (which decides the order of keys).
std::vector<Write> coalesced(const std::vector<Write>& writes);

/// Counters of all recordings of the process.
struct RecorderStats {
  long recordings = 0, stopped = 0, events = 0, slots_checked = 0, slots_wrong = 0, pins = 0;
};
RecorderStats& recorder_stats();

/// Makes the tables that need Python (imports) before anything is recorded. Cheap when done already.
void prepare_recorder();

/// What a functools.partial will call, and with what.
struct PartialParts {
  Value function;
  std::vector<Value> positional;
  std::vector<PyObject*> keywords;
  std::vector<Value> keyword_values;
};

class Recording;
/// What this thread records, or has recorded just now; or null.
inline thread_local constinit Recording* recording_of_thread = nullptr;

class Recording {
 public:
  Recording(Speculation& speculation, PyThreadState* thread);
  ~Recording();
  Recording(const Recording&) = delete;

  // ---- life (recording.cpp) ----
  /// The recording of this thread that is still alive, or null.
  static Recording* current();
  /// `in_the_middle`: of a frame that has run, or been served, up to where it stands.
  void begin(TerraFrame* frame, bool in_the_middle);
  void stop(Reason reason, std::string detail = {});
  bool alive() const { return alive_; }
  /// Stopped, or cut: nothing more will be recorded, though the frame may run for long.
  bool over() const { return !alive_; }
  /// `call(data)` is called, at most once, when that is found to be so at an event of the frame. The recording lives
  /// on.
  void when_over(void (*call)(void*), void* data) { over_call_ = call, over_data_ = data; }
  /// What broke while an entry was made inside an event.
  const std::string& error() const { return error_; }
  /// The way into the recorder for all that comes from below C code of the program: events, frames, reports of the
  /// engine. No exception passes. One of Python that is set stays set; one that the work leaves, or throws, ends the
  /// recording.
  template <class F>
  void shielded(F work) {
    const OwnTime time(own_ms_);
    const ErrorIndicator error;
    try {
      work();
      if (std::string left = error.left_behind(); !left.empty()) broke(std::move(left));
    } catch (const std::exception& e) {
      PyErr_Clear();
      broke(e.what());
    }
  }
  bool returned() const { return returned_; }
  bool in_the_middle() const { return in_the_middle_; }
  const Stop& why() const { return why_; }
  /// Milliseconds that watching has cost so far, the frame's own work aside (own_time.h).
  double& own_ms() { return own_ms_; }
  /// After a stop, where nothing of the recording is in use any more: lets go of the program's objects, so that their
  /// destructors run when they would have.
  void let_go();
  /// True if the recording ended because a fact has just been relaxed: record the next call again.
  bool again() const { return again_; }
  void record_again() { again_ = true; }
  /// The entry, of the whole frame or (cut set) of its first part; null with why() set when it can't be made
  /// (finish.cpp).
  std::unique_ptr<Entry> finish();

  // ---- leaving the frame in the middle (cuts.cpp) ----
  /// Before begin: the recording is to end where its root frame comes to one of these points, and only after so many
  /// calls of the engine; `resumes`: as in CutSearch.
  void aim(std::vector<CutPoint> points, size_t least_calls, bool resumes) {
    cuts_.aims = std::move(points);
    cuts_.least_calls = least_calls;
    cuts_.resumes = resumes;
  }
  /// After a stop: where the next recording should end; not valid where a cut is impossible or gains nothing.
  const CutPoint& next_aim() const { return cuts_.next; }

  // ---- events (step.cpp) ----
  void after_event();
  void start_event(TerraFrame* frame);
  void instruction_event(TerraFrame* frame);  // let_go() is the caller's business after each of these
  /// A Python frame below the root is about to run. `frame` is bound from the open instruction of its caller
  /// (bind_arguments.cpp). `throwing`: a suspended generator, into which an exception is thrown.
  ShadowFrame* enter(TerraFrame* frame, bool throwing);
  /// It has run; `result` is what it returned, borrowed, or null after an exception of class `raised_kind`.
  void leave(ShadowFrame* frame, PyObject* result, PyObject* raised_kind);
  void raised(ShadowFrame& frame, PyObject* kind);
  void give_back(ShadowFrame& frame, Value value);
  ShadowFrame& root() { return *frames_.front(); }
  ShadowFrame* top() { return frames_.empty() ? nullptr : frames_.back(); }
  /// From the root to the top.
  const std::vector<ShadowFrame*>& frames() const { return frames_; }
  /// The frame that called the top one.
  ShadowFrame* below_top() { return frames_.size() < 2 ? nullptr : frames_[frames_.size() - 2]; }

  // ---- objects (sources.cpp) ----
  PyObject* hold(PyObject* object);
  /// The same of a new reference, which the recording takes over.
  PyObject* hold_new(PyObject* object);
  /// Gives one reference back; never the last one.
  void unhold(PyObject* object);
  /// How many references to it the recording has.
  Py_ssize_t times_held(PyObject* object) const;
  const HeldObjects& held() const { return held_; }
  /// Nobody but the recording keeps the object alive.
  bool holds_alone(PyObject* object) const;
  Shadow* find(PyObject* object);
  /// The same for those who ask nothing about the object (loops.h).
  Shadow* peek(PyObject* object);
  /// What a function that is made inside holds: its defaults, and the cells of its closure.
  std::vector<Value> parts_of_function(const Shadow& function);
  /// How far an iterator has come that is followed; null for any other object.
  Iterator* iterator_of(PyObject* object);
  /// The shadow of the object behind a value; makes one for facts.
  Shadow& shadow(const Value& value);
  Shadow& put(PyObject* object, Value self, bool outside, std::string path);
  /// A new object made by the frame; stops for objects with finalizers.
  Shadow& fresh(PyObject* object);
  Value by_identity(PyObject* object);
  /// An object that is itself part of a fact: an attribute of a class, a default, what a method of C is bound to.
  Value constant(PyObject* object);

  // ---- reads of the outside (sources.cpp) ----
  /// A local variable. An argument of the root frame is read where it is first asked for: one that a path through the
  /// frame leaves alone may be anything there.
  Value& local(ShadowFrame& frame, int index);
  /// Emits a read of `base`, by `second` if it takes two registers, and classifies what it found in the recorded run.
  Value read(Op op, Register base, std::vector<Word> operands, PyObject* found, const std::string& path,
             Register second = no_register);
  Value classify(Register reg, PyObject* object, const std::string& path);
  void guard(Op op, Register a, std::vector<Word> operands = {}, Register b = no_register);
  /// A guard on a tensor's type, dtype, sizes and the like, as far as they are facts.
  void guard_tensor(Register reg, PyObject* tensor, const std::string& path);
  /// A register that holds the value in a run; materialises fresh objects (materialise.cpp).
  Register reg_of(const Value& value);
  bool late(Register reg) const { return reg >= 0 && late_[reg]; }
  Register new_register(std::string name, bool owned, bool late);
  /// Makes a dynamic scalar a fact by a guard on its value; objects by a guard on identity where `identity`.
  void pin(Value& value);
  /// The same for everything reachable inside fresh containers: the value goes where it can't be followed.
  void pin_deep(Value& value, int depth = 0);
  /// Reads all that C code could see of a value, as facts. False: it can't be read.
  bool read_deep(Value& value, int depth = 0);
  void guard_type(PyObject* object);
  ClassFacts& class_facts(PyTypeObject* type);
  PyObject* look_up(PyTypeObject* type, PyObject* name);

  // ---- what C code looks up by itself (special_methods.cpp) ----
  /// Which special methods the class has, and which not, is a fact.
  void special_methods(PyTypeObject* type);
  /// The same of the class of an object that C code is given, and of the object where it is a class. `levels`: and of
  /// what containers hold, as far down.
  void asked_by_c(Value& value, int levels = 0);
  /// Of the operands of the open instruction, if it is one whose C code asks their classes for methods.
  void classes_asked(ShadowFrame& frame);
  /// Of the arguments of the open call, where C code gets them.
  void call_asked(ShadowFrame& frame);
  /// How the class of an object reads attributes.
  void class_reads(PyObject* object);
  Value host(Op op, Register a, Register b, std::vector<Word> operands, PyObject* result, const std::vector<Value>& in);
  /// What a C callable without arguments returns, asked in each run anew: nothing can be guarded about its value.
  Value restless_number(PyObject* callee, PyObject* result);
  void truth(Value& value);
  /// Makes facts of all that C code looks at to find out whether two values are equal or (`ordered`) which is less, or
  /// whether one contains the other (comparisons.cpp). False: it would run code of the program; stopped.
  bool read_to_compare(Value& a, Value& b, bool ordered = false, int depth = 0);
  bool read_to_search(Value& container, Value& key);

  // ---- containers (containers.cpp) ----
  void know_length(Value& sequence);
  /// False for one from outside that has had many lengths: better the frame is cut where all of its items are taken.
  bool may_know_length(Value& sequence);
  /// len() of a container from outside that has had different lengths, and of which nothing but its length (of a list:
  /// and single items) is asked for: a number. Unknown: the length is a fact.
  Value length(Value& container);
  /// An item of such a list, counted from its end where `index` is negative; Unknown for all others.
  Value item_of_grown(Value& sequence, Py_ssize_t index);
  /// The last `count` items of such a list, which has as many at least: a guard. False: it is none, or shorter.
  bool tail_of_grown(Value& sequence, Py_ssize_t count, std::vector<Value>& tail);
  Value item(Value& sequence, Py_ssize_t index);
  /// The item at an index that changes from run to run; Unknown where only a fixed index will do.
  Value item_of(Value& sequence, const Value& index);
  std::vector<Value> items(Value& sequence);
  /// Asks for all of them; once.
  void read_items(Value& sequence);
  /// The items of a sequence as they are now, in a tuple of their own: what an effect puts elsewhere later.
  Value snapshot(Value& sequence);

  // ---- dicts and sets (mappings.cpp) ----
  /// The key as dicts and sets compare it: by value a fact, by identity itself. False: it runs Python code; stopped.
  bool prepare_key(Value& key);
  void know_keys(Value& container);
  Shadow::Entry* entry(Shadow& container, PyObject* key);
  /// The value under a prepared key that the frame sees now; Unknown when there is none (a fact as well).
  Value dict_item(Value& dict, const Value& key);
  Value dict_item(Value& dict, PyObject* fact) { return dict_item(dict, Value::fact(fact)); }
  void dict_store(Value& dict, const Value& key, Value value, bool was_there);
  void dict_store(Value& dict, PyObject* fact, Value value, bool was_there) {
    dict_store(dict, Value::fact(fact), value, was_there);
  }
  void dict_delete(Value& dict, const Value& key);
  /// The key is a number or string that differs between runs, or a tuple with such, and the dict is one that can be
  /// stored to under it without asking what it has there. Nobody can ask for its keys afterwards.
  bool takes_varying_key(const Value& dict, const Value& key);
  void store_varying(Value& dict, const Value& key, Value value);
  void ask_blurred();
  /// Of a defaultdict.
  Value default_factory(Value& dict);
  bool set_has(Value& set, const Value& key);
  /// A set made inside of these elements; `result` is the real one.
  Value make_set(PyObject* result, std::vector<Value> elements);
  std::vector<Value> elements(Value& container);
  /// Makes sure that a set made inside is laid out as one that gets its elements in the order of its entries.
  void know_layout(Value& set);
  Value cell(PyObject* cell);
  Value make_sequence(PyObject* object, std::vector<Value> items);

  /// The number that an object stands for that is none itself (number_objects.cpp); Unknown for all others.
  Value number_behind(const Value& value);
  /// What C code takes for an index or a count becomes a number, and a fact. False: it is none that can be read;
  /// stopped.
  bool read_index(Value& value);

  // ---- attributes (attributes.cpp) ----
  /// How an attribute will be read; what leads to code of the program is a fact from here on.
  Access access_of(Value& owner, PyObject* name, PyObject** found);
  Value attribute(ShadowFrame& frame, Value& owner, PyObject* name, PyObject* result);
  /// Whether what was found on a class (or null) is a descriptor, and what its own class does with reads and stores.
  void descriptor_facts(PyObject* found);
  Value instance_attribute(Value& owner, PyObject* name, PyObject* value);
  void no_attribute(Value& owner, PyObject* name);
  /// Nothing has that name: neither instance nor class nor __getattr__.
  void absent(Value& owner, PyObject* name);
  /// `effect`: SetAttribute, or SetPlainAttribute to go past a __setattr__ of the class.
  void store_attribute(Value& owner, PyObject* name, Value value, Effect effect = Effect::SetAttribute);
  void store_child(Value& module, PyObject* name, Value child);
  /// The __dict__ of an instance, `dict` being the real one: another view of its attributes.
  Value instance_dict(Value& owner, PyObject* dict);
  Value instance_entry(PyObject* owner, PyObject* name);
  PyObject* interned_name(PyObject* name);
  void delete_attribute(Value& owner, PyObject* name);
  bool can_store_attribute(PyObject* owner, PyObject* name);
  /// Before a store: notes whether the object has had such an attribute.
  void about_to_store(const Value& owner, PyObject* name);

  // ---- exceptions made inside (exceptions.cpp) ----
  Value exception_attribute(Value& exception, PyObject* name, PyObject* result);
  std::vector<Value> exception_arguments(Shadow& exception);
  /// Of an exception that is about to be raised.
  void must_be_made_inside(PyObject* exception);
  /// A link or traceback of an exception made inside, which can only be seen inside.
  bool keeps_exception_field(Value& owner, PyObject* name);

  // ---- calls (call_sites.cpp, bind_arguments.cpp) ----
  void open_call(ShadowFrame& frame, PyObject* callee, Value callee_value, std::vector<Value> positional,
                 std::vector<PyObject*> keywords, std::vector<Value> keyword_values);
  Value call_result(ShadowFrame& frame, PyObject* result);
  /// What a C callable gives for an object that can be something else in each run: it is called again there.
  Value asked_again(PyObject* callee, const Value& object, PyObject* result, const std::string& path);
  /// What a weak reference refers to: another object, or None, in each run.
  Value referent(const Value& reference, PyObject* result);
  void bind(ShadowFrame& child, const CallSite& site);
  /// The frame is that of a method that the open instruction calls with its operands (bind_dunders.cpp). False: it is
  /// not.
  bool bind_operands(ShadowFrame& child, ShadowFrame& caller);
  void bind_from_c(ShadowFrame& child, ShadowFrame& caller);
  Value bind_object(ShadowFrame& caller, PyObject* object);
  /// `entering`: the frame in which it begins to run.
  void guard_function(const Value& function, const ShadowFrame* entering = nullptr);
  /// As RegisterFile::keep_globals.
  PyObject* keep_globals(PyFunctionObject* function, const ShadowFrame* entering);
  PartialParts partial_parts(const Value& partial);

  // ---- iteration (iteration.cpp) ----
  Value make_iterator(PyObject* iterator, Iterator::Kind kind, PyObject* base);
  /// The keys of the dict that it walks over are no longer those it began with.
  bool lost_its_place(const Iterator& iterator);
  /// The creation of `frame` has returned a generator. Once it has started, only the program's references keep it alive
  /// until it ends: its `finally` has to run where it would have run.
  void made_generator(ShadowFrame* frame, PyObject* generator);
  /// Of what an instruction or callable is about to walk over: an iterator from outside that nobody has used yet is
  /// followed from here on. False: it is none.
  bool adopt(const Value& value);
  void set_children(PyObject* iterator, std::vector<Value> children);
  LiveIterators& live_iterators() { return live_iterators_; }
  /// Whether dropping the iterator would run code of the program.
  bool suspended_in_try(PyObject* iterator);
  /// The end of a recorded run must not leave such a generator behind.
  void check_generators();
  /// The shadow of iter(value) for a real iterator object (null: inside enumerate or zip).
  Value iterate(Value& value, PyObject* iterator);
  Value next(ShadowFrame& frame, Value iterator, PyObject* produced, bool below_zip = false);
  /// Whether next(iterator, other), which gave `result`, found an item; stops where that can't be told.
  bool found_next(ShadowFrame& frame, Value& iterator, PyObject* result, PyObject* other);
  Value next_in_python(ShadowFrame& frame, Value& iterator, PyObject* produced);
  /// The shadow of iter(tensor), which walks over the tuple that unbind() made.
  Value iterate_rows(Value& tensor, PyObject* iterator);
  /// Of the iterator that enumerate or zip have taken from an operand.
  Value iterate_below(ShadowFrame& frame, Value& value, PyObject* iterator);
  Value iterator_returned(ShadowFrame& frame, Value& iterable);
  std::vector<Value> drain_python(ShadowFrame& frame, Value& iterable, PyObject* produced);
  /// Everything an iterable yields, when the real items are `produced`.
  std::vector<Value> drain(ShadowFrame& frame, Value iterable, PyObject* produced);

  // ---- writes ----
  void write(Write write) { writes_.push_back(std::move(write)); }

  TraceBuilder& trace() { return *trace_; }
  Loops& loops() { return *loops_; }
  Phis& phis() { return *phis_; }
  ValueNumbers& value_numbers() { return *value_numbers_; }
  /// A register for the version that a tensor's memory has when the frame starts.
  Register version_register(Register tensor);
  /// A register for the .grad that a tensor has when the frame starts.
  Register gradient_register(Register tensor, const std::string& name, bool unhooked);
  RegisterFile& file() { return entry_->file; }
  PyThreadState* thread() const { return thread_; }
  Speculation& speculation() { return speculation_; }
  std::map<std::string, PyObject*>& facts() { return facts_; }
  Entry& entry_being_made() { return *entry_; }

 private:
  friend class Phis;
  friend class Finisher;
  friend class Loops;
  friend class ProgramStateReader;
  ShadowFrame* new_frame(TerraFrame* frame);
  Access way_to(Value& owner, PyObject* name, PyObject** found);
  Register emit_read(Op op, Register a, Register b, const std::vector<Word>& operands, std::string name, bool owned);
  void know_attribute_names(Value& dict);
  void adopt_generator(PyObject* object, Register self, const std::string& path);
  void generator_ended(PyObject* generator);
  bool left_suspended() const;
  void move_iterators();
  void check_slots(ShadowFrame& frame);
  void check_wrappers();
  void unwind(ShadowFrame& frame, int offset);
  const Value& leaving_as(const Value& value);
  Register materialise(Shadow& shadow);
  Register materialise_iterator(const Iterator& iterator, PyObject* real);
  bool can_rebuild_iterator(const Shadow& shadow);
  bool changes_later(PyObject* object);
  bool can_leave(const Value& value, int depth);
  bool can_cut(const ShadowFrame& frame);
  bool at_boundary(ShadowFrame& frame, int offset);
  size_t least_calls_before(int offset) const;
  void take_over(ShadowFrame& root);
  void cut(ShadowFrame& frame, int offset);
  void aim_next();
  void broke(std::string what);

  bool number_differs(const std::string& path, PyObject* number);

  Speculation& speculation_;
  PyThreadState* thread_;
  int room_ = 0;  ///< below the recursion limit, before the root frame ran
  void resume_collector();

  /// Whether the garbage collector was on: a collection inside would run finalizers at another time than a run of the
  /// entry does. The program gets it back as soon as the recording stops.
  bool collecting_;
  bool alive_ = true, returned_ = false, again_ = false, materialising_ = false, in_the_middle_ = false;
  Stop why_;
  void (*over_call_)(void*) = nullptr;
  void* over_data_ = nullptr;
  std::string error_;
  Value result_;
  long events_ = 0;
  double own_ms_ = 0;

  std::unique_ptr<Entry> entry_;
  std::unique_ptr<Entry> finished_;  ///< made by a cut
  CutSearch cuts_;
  std::unique_ptr<TraceBuilder> trace_;
  std::unique_ptr<Loops> loops_;
  std::unique_ptr<ValueNumbers> value_numbers_;
  std::unique_ptr<Phis> phis_;
  std::vector<bool> late_;
  std::unordered_map<PyObject*, Register> constants_;
  std::set<Register> pinned_;
  std::set<Register> restless_;  ///< numbers that no two runs have in common, and what follows from them
  std::set<Register> decided_;   ///< their truth is guarded
  std::map<std::pair<Op, std::vector<Word>>, Register> computed_;  ///< host arithmetic of the entry program
  std::unordered_map<PyTypeObject*, ClassFacts*> classes_;
  std::set<std::pair<PyObject*, PyObject*>> guarded_functions_;
  std::set<std::pair<PyObject*, int>> closures_read_;  ///< cells of functions, by slot

  std::unordered_map<PyObject*, Shadow> shadows_;
  HeldObjects held_;
  std::vector<PyObject*> called_back_;  ///< objects whose end weak references of the program wait for
  bool delays_a_callback() const;
  std::map<std::string, PyObject*> facts_;
  std::vector<Write> writes_;
  size_t next_write_ = 0;  ///< the first of them that the effect program does not have yet

  std::vector<std::unique_ptr<ShadowFrame>> own_;
  std::vector<ShadowFrame*> frames_;
  std::unordered_map<TerraFrame*, ShadowFrame*> generators_;
  std::vector<PyObject*> adopted_;  ///< iterators from outside that are followed (held)
  LiveIterators live_iterators_;
  std::vector<PyObject*> wrappers_;  ///< zip and the like over generators (held): see check_wrappers
  std::unordered_set<PyCodeObject*> codes_;
  std::unordered_map<PyCodeObject*, std::set<std::string>> stored_names_;  ///< of attributes that a code assigns to
};

}  // namespace terra::capture

// The heap shadow: what a recording knows about the objects that the frame has met.
#pragma once
#include "interpreter_hooks/recorder/core/value.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace terra::capture {

/// An iterator made inside the frame. CPython's own is advanced by CPython; this one is advanced beside it.
struct Iterator {
  enum Kind : uint8_t {
    Sequence,
    Reversed,
    Range,
    Keys,
    Values,
    Items,
    Enumerate,
    Zip,
    Generator,
    Mapped,
    Filtered,
    Combined,
    Popped,
    Facts,
    Counted
  };
  Kind kind;
  PyObject* base = nullptr;  // borrowed: what is iterated over (the generator itself for Generator)
  Py_ssize_t index = 0;
  long rekeyed = 0;        ///< `rekeyed` of the dict below when this was made; views go with the dict: -1
  bool zipped = false;     ///< a zip() may have taken an item more from it than it gave away
  bool uncounted = false;  ///< C code that nobody watches may have taken items from it
  bool hands_on = false;   ///< of Combined: the items go through it as they are
  /// Iterators of Enumerate and Zip; operands of Mapped, Filtered and Combined; next number, end and step of Counted.
  std::vector<Value> children;
};

/// What is known of one object; identity is the address (the recording holds a reference, so it is not reused).
struct Shadow {
  Value self;
  bool outside = false;         ///< existed before the frame: reads become guards, writes become effects
  bool typed = false;           ///< its type is guarded
  bool written = false;         ///< the frame changes it
  bool named = false;           ///< a dict whose keys read as attributes of what `path` says
  bool plain_call = false;      ///< a module: that it has no hooks is guarded
  bool being_made = false;      ///< materialising it right now (cycles)
  bool plain_instance = false;  ///< made by object.__new__
  bool names_changed = false;   ///< the frame gave an instance from outside a new attribute, or took one
  bool bounded = false;         ///< a deque: its maxlen is guarded
  /// A gradient mode from outside: how many times it had been entered when the frame first called a method of it.
  std::optional<size_t> entered_before;
  std::string path;  ///< how it was reached

  /// Instance attributes by interned name. Null: known to be absent (deleted here, or guarded so).
  std::unordered_map<PyObject*, Value> attributes;
  std::vector<PyObject*> order;     ///< names in the order in which a fresh object got them
  std::vector<PyObject*> replaced;  ///< names that an object from outside had when the frame was about to store to them

  /// List, tuple, deque: items once the length is known; until then what was appended to an outside list.
  bool length_known = false;
  bool all_read = false;  ///< every item has been asked for
  std::vector<Value> items;
  std::vector<Value> appended;

  /// Dict: entries read or written, in order where `keys_known` (then all of them). Of a set the keys alone.
  struct Entry {
    PyObject* key;
    Value value;
    Value key_value;  ///< of a key that is compared by identity; Unknown for keys that are facts
    Value where_from() const { return key_value.known() ? key_value : Value::fact(key); }
  };
  bool keys_known = false;
  bool blurred = false;     ///< stored to under a key that differs between runs: what is under others may be that
  long rekeyed = 0;         ///< how often the frame gave the dict a key or took one
  bool order_lost = false;  ///< keys were deleted before they were all known; of a set from outside: before the frame
  std::vector<Entry> entries;
  std::vector<PyObject*> inserted;  ///< keys that the frame added to an outside dict, in order
  std::vector<PyObject*> missing;   ///< keys known to be absent
  std::vector<Value> compared;      ///< objects looked for in it by identity: as different in a run as they were here

  Value content;                      ///< of a cell
  PyObject* attributes_of = nullptr;  ///< an instance's __dict__: its entries are the attributes of this object
  Value function, receiver;     ///< of a bound method; `function` also of a defaultdict (its factory) and of a partial
  std::vector<Value> defaults;  ///< of a function made inside
  std::vector<std::pair<PyObject*, Value>> keyword_defaults;
  std::unique_ptr<Iterator> iterator;

  /// Tensors: number in the trace, or none yet.
  uint32_t trace_id = ~0u;
  /// Lists made inside that a loop appended to: their number in the trace. Others: none.
  uint32_t grown = ~0u;
  long asked = -1;  ///< of such a list: when something about it was last asked, in events of the recording

  bool fresh() const { return !outside; }
};

}  // namespace terra::capture

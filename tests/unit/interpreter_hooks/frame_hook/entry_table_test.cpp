// Which entry a call tries first, room for new ones, and tables that destructors of the program come back to.
#include "tests/unit/interpreter_hooks/support.h"

#include "interpreter_hooks/frame_hook/entry_table.h"

using namespace terra::capture;

namespace {

PyFunctionObject* function(Names& names, const char* name) { return reinterpret_cast<PyFunctionObject*>(names[name]); }

uint64_t key(Names& names, const char* arguments) {
  PyObject* all = PyRun_String(arguments, Py_eval_input, PyFunction_GET_GLOBALS(names["f"]), nullptr);
  REQUIRE(all);
  const uint64_t found = call_key(reinterpret_cast<PyTupleObject*>(all)->ob_item, function(names, "f"));
  Py_DECREF(all);
  return found;
}

}  // namespace

TEST_CASE("calls that look alike have one key", "[entry_table]") {
  Names names("def f(self, x, y=None): pass\nclass C: pass\na, b = C(), C()");
  CHECK(key(names, "(a, 1, None)") == key(names, "(a, 2, None)"));
  CHECK(key(names, "(a, 1, None)") != key(names, "(b, 1, None)"));
  CHECK(key(names, "(a, 1, None)") != key(names, "(a, 1.0, None)"));
  CHECK(key(names, "(a, 1, None)") != key(names, "(a, 1, True)"));
  CHECK(key(names, "(a, 1, True)") != key(names, "(a, 1, False)"));
  CHECK(key(names, "(a, b, None)") == key(names, "(a, a, None)"));
}

TEST_CASE("the entry that served a key is tried first for it", "[entry_table]") {
  EntryTable table;
  std::vector<std::shared_ptr<Entry>> entries;
  for (int i = 0; i < 5; i++) {
    entries.push_back(std::make_shared<Entry>());
    table.add(entries.back());
  }
  constexpr uint64_t one = uint64_t{1} << 58, two = uint64_t{2} << 58;
  CHECK(table.likely(one) == entries[4]);  // the newest
  table.served(one, entries[1]);
  table.served(two, entries[3]);
  CHECK(table.likely(one) == entries[1]);
  CHECK(table.likely(two) == entries[3]);
  CHECK(table.likely(one + 1) == entries[4]);  // the same slot, another key
  CHECK(table.remove_if([&](const Entry& e) { return &e == entries[1].get(); }) == 1);
  CHECK(table.likely(one) == entries[4]);
  CHECK(table.size() == 4);
}

TEST_CASE("room is made by dropping what has waited longest for its first hit", "[entry_table]") {
  EntryTable table;
  for (size_t i = 0; i < most_entries; i++) {
    REQUIRE(table.make_room());
    auto entry = std::make_shared<Entry>();
    entry->hits = i == 3 || i == 7 ? 0 : 1;
    table.add(std::move(entry));
  }
  const std::shared_ptr<Entry> third = table[most_entries - 1 - 3], seventh = table[most_entries - 1 - 7];
  CHECK(table.has_room());
  CHECK(table.make_room());
  CHECK(table.size() == most_entries - 1);
  CHECK(std::find(table.begin(), table.end(), third) == table.end());
  CHECK(std::find(table.begin(), table.end(), seventh) != table.end());
  seventh->hits = 1;
  table.add(std::make_shared<Entry>());
  table[0]->hits = 1;
  CHECK_FALSE(table.has_room());
  CHECK_FALSE(table.make_room());
}

namespace {

EntryTable* watched = nullptr;
size_t seen = 0;

/// What a destructor of the program finds in the table that drops its entry.
PyObject* look(PyObject*, PyObject*) {
  seen = 0;
  for (const auto& entry : *watched) seen += entry->file.words() + 1;
  watched->add(std::make_shared<Entry>());
  Py_RETURN_NONE;
}

}  // namespace

TEST_CASE("a destructor that comes back to the table finds it whole", "[entry_table]") {
  Names names(
      "class Loud:\n"
      "    def __del__(self): look()\n");
  static PyMethodDef method = {"look", look, METH_NOARGS, nullptr};
  PyObject* function = PyCFunction_New(&method, nullptr);
  PyObject* globals = PyFunction_GET_GLOBALS(PyObject_GetAttrString(names["Loud"], "__del__"));
  PyDict_SetItemString(globals, "look", function);
  for (int way = 0; way < 3; way++) {
    EntryTable table;
    watched = &table;
    for (int i = 0; i < static_cast<int>(most_entries); i++) {
      auto entry = std::make_shared<Entry>();
      entry->hits = i == 20 ? 0 : 1;
      if (i == 20) {
        PyObject* loud = PyObject_CallNoArgs(names["Loud"]);
        entry->file.constant(loud);
        Py_DECREF(loud);
      }
      table.add(std::move(entry));
    }
    if (way == 0) table.remove_if([](const Entry& entry) { return entry.hits == 0; });
    if (way == 1) table.make_room();
    if (way == 2) table.clear();
    CHECK(seen == (way == 2 ? 0 : most_entries - 1));
    CHECK(table.size() == (way == 2 ? 1 : most_entries));
  }
  Py_DECREF(function);
}

// Objects that guards compare with, and that an entry therefore needs not keep alive: classes and functions of the
// program above all. To die is enough to end what relies on them.
#pragma once
#include <Python.h>

namespace terra::capture {

class RegisterFile;

/// Calls file.lose(object) when `object` dies, unless unwatch comes first. Once for each file and object. False: it
/// cannot be watched, because weak references to it are impossible or it is built in and never dies. Needs the GIL.
///
/// One weak reference serves all files: it is all that the program can see of this (weakref.getweakrefcount,
/// gc.get_objects).
bool watch(PyObject* object, RegisterFile& file);
void unwatch(PyObject* object, RegisterFile& file);
/// Whether a weak reference is one of those that watch.
bool is_watch(const PyWeakReference* reference);

}  // namespace terra::capture

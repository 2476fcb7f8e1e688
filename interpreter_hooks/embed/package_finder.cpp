#include "interpreter_hooks/embed/package_finder.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "interpreter_hooks/embed/interpreter.h"

namespace terra::embed {
namespace {

// Imports nothing, so that a program sees the same sys.modules at its start as under python3.
constexpr const char* finders = R"python(
import sys
_bootstrap = sys.modules["_frozen_importlib"]
_path_finder = sys.modules["_frozen_importlib_external"].PathFinder


class PackageFinder:
    """Finds one top-level package in a folder that counts as the last one of sys.path, without being there.

    As there, a user's own module of that name comes first, but a mere folder of that name, which Python would take for
    a namespace package, does not: hence this finder has to stand in front of the usual ones.
    """

    def __init__(self, name, folder):
        self.name, self.folder = name, folder

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        own = _path_finder.find_spec(name, path, target)
        return own if own and own.origin else _path_finder.find_spec(name, [self.folder], target)


class AliasFinder:
    """Makes the modules of a package importable under a second name, as the same objects.

    The module that Python creates for the second name is replaced in sys.modules while it loads, so that the real
    one keeps its name and spec. The import happens there and not in find_spec, which runs under a global lock. With
    `gives_way`, a package of the second name comes first, unless it has a compiled part: that was made for PyTorch's
    libraries and can't work with ours. One that is `installed_with` another is no distribution of its own.
    """

    def __init__(self, alias, package, parent_folder, gives_way=False, installed_with=None):
        self.alias, self.package, self.parent_folder, self.gives_way = alias, package, parent_folder, gives_way
        self.installed_with = installed_with

    def find_distributions(self, context):
        """What importlib.metadata says of the second name: many programs ask it for the version of torch."""
        if self.installed_with or context.name is not None and context.name.lower() != self.alias:
            return []
        if self.gives_way and self.works(_path_finder.find_spec(self.alias)):
            return []
        import importlib.metadata

        class Alias(importlib.metadata.Distribution):
            def read_text(_, filename):
                if filename != "METADATA":
                    return None
                module = __import__(self.package + ".version", fromlist=["__version__"])
                version = getattr(module, self.alias, module.__version__)
                return f"Metadata-Version: 2.1\nName: {self.alias}\nVersion: {version}\n"

            def locate_file(_, path):
                import pathlib

                return pathlib.Path(self.parent_folder, path)

        return [Alias()]

    def real_name(self, name):
        return self.package + name[len(self.alias):]

    def works(self, spec):
        folders = spec and spec.submodule_search_locations or ()
        return spec and not any(_path_finder.find_spec(self.alias + part, folders) for part in ("._C", "._C_stable"))

    def find_spec(self, name, path=None, target=None):
        if name != self.alias and not name.startswith(self.alias + "."):
            return None
        if self.gives_way:
            if name == self.alias and self.works(_path_finder.find_spec(name, path, target)):
                return None
            if name != self.alias and sys.modules.get(self.alias) is not sys.modules.get(self.package):
                return None
        real = self.real_name(name)
        where = [self.parent_folder] if name == self.alias else path
        if real in sys.modules or _path_finder.find_spec(real, where):
            return _bootstrap.ModuleSpec(name, self)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__spec__.name
        real = self.real_name(name)
        __import__(real)
        sys.modules[name] = sys.modules[real]
        # Modules below it that are loaded have their second name from now on. Importing one by it would set it as an
        # attribute of its package, in the place of a function of the same name: nn.utils.weight_norm, autograd.gradcheck.
        for each in [each for each in sys.modules if each.startswith(real + ".")]:
            sys.modules.setdefault(self.alias + each[len(self.package):], sys.modules[each])
        take_name = getattr(sys.modules[name], "_known_as", None)
        if name == self.alias and take_name:
            take_name(name)


sys.meta_path.insert(0, PackageFinder("terra", folder))
if torch:
    sys.meta_path.insert(0, AliasFinder("torch", "terra", folder))
    sys.meta_path.insert(0, AliasFinder("functorch", "terra.functorch", folder + "/terra", installed_with="torch"))
    sys.meta_path.insert(0, AliasFinder("torchvision", "terra.vision", folder + "/terra", gives_way=True))
)python";

bool set_item(PyObject* dict, const char* key, PyObject* value) {
  return value && PyDict_SetItemString(dict, key, value) == 0;
}

}  // namespace

bool install_package_finders(const RunOptions& options) {
  PyObject* globals = PyDict_New();
  PyObject* name = PyUnicode_FromString("terra finders");
  PyObject* folder = PyUnicode_DecodeFSDefault(options.package_folder.c_str());
  PyObject* code = Py_CompileString(finders, "<terra finders>", Py_file_input);
  PyObject* result = nullptr;
  if (globals && code && set_item(globals, "__builtins__", PyEval_GetBuiltins()) &&
      set_item(globals, "__name__", name) && set_item(globals, "folder", folder) &&
      set_item(globals, "torch", options.torch ? Py_True : Py_False)) {
    result = PyEval_EvalCode(code, globals, globals);
  }
  for (PyObject* object : {globals, name, folder, code, result}) Py_XDECREF(object);
  return result != nullptr;
}

}  // namespace terra::embed

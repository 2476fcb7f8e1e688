"""The rules of the house, each a function that yields one sentence per violation. See README.md for the picture."""

import collections
import dataclasses
import functools
import pathlib
import re

FOLDERS = ["kernels", "engine", "graph", "recursive", "interpreter_hooks", "apps"]  # each uses those before it only
VISITORS = ["models", "tests"]  # may look at everything
TOP_LEVEL = [*FOLDERS, *VISITORS, "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE"]
PYTHON_FENCE = ("interpreter_hooks/", "apps/terra-run/", "tests/")
CUDA_FENCE = ("kernels/cuda/", "tests/")
# Folder of a device's kernels -> its backend, which alone knows them.
BACKENDS = {"kernels/cpu/": "engine/device/cpu_", "kernels/cuda/": "engine/device/cuda_"}
LONGEST_FILE = 800
LONGEST_README = 40
LARGEST_ROOM = 45  # source files in one folder; those whose files are rows of one table may have more
TABLES = ("kernels/", "engine/ops", "tests/")
SOURCES = (".c", ".cpp", ".cu", ".h")
TEXTS = (*SOURCES, ".py", ".pyi", ".txt", ".md", ".json", ".sh", ".cmake", ".html", "")
# Put together here so that the rule does not find itself.
FLAG = re.compile(r"\b(k\w+) = 1 << (\d+)")
MACHINE_PATH = re.compile("|".join("/" + folder + "/" for folder in ("work", "root", "home", "Users", "mnt")))
UNFINISHED = re.compile(r"\b(?:" + "TO" + "DO|FIX" + r"ME|X" + r"XX)\b")
CUDA_HEADER = re.compile(r"(?:cuda|cublas|cudnn|nvrtc|nccl|curand|cusparse|cusolver)\w*(?:\.h|/.*)", re.IGNORECASE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)', re.MULTILINE)
HELP = "apps/terra-run/options.cpp"  # its tables are what --help-terra prints
VARIABLE = re.compile(r"""["'](TERRA_[A-Z][A-Z_]*)["'=]""")  # of the environment: macros don't stand in quotes
# An assignment to what a TensorImpl is; other structs have members of some of these names.
TENSOR_FIELD = re.compile(r"(?:->|\.)(?:storage|wants_grad|serial) = |"
                          r"(?:->|\b(?:t|to|tensor|target|impl|view|copy|alias)\.)(?:dtype|sizes|strides|offset|numel) = ")
OTHER_FIELDS = {  # file -> whose members it assigns
    "interpreter_hooks/bindings/tensor/numpy.cpp": "a Py_buffer", "interpreter_hooks/bindings/objects/dtype_limits.cpp": "a finfo",
    "graph/executor/control.cpp": "a View", "engine/eager/long_call.cpp": "a View",
}
CALLABLE_NAME = re.compile(r"model(?:->|\.)name|callable_name\([^;]*\)+ [!=]=|strcmp\([^;]*\bml_name|"
                           r"string_view \w+ = [^;]*\bml_name")
NAMING_FILES = {  # file -> what it names, that has no row
    "interpreter_hooks/recorder/calls/call_models.cpp": "the rows themselves",
    "interpreter_hooks/recorder/calls/call_sites.cpp": "the engine's functions, and tp_new of any type",
    "interpreter_hooks/recorder/opcodes/rules_import.cpp": "whatever the program has put in the place of __import__",
}
CPYTHON_FENCE = "interpreter_hooks/cpython/"
# What only one minor version of CPython promises: its bytecode, the insides of its structs, its private functions.
VERSIONED = re.compile(r"<opcode\.h>|Py_BUILD_CORE|<internal/|\bPyCode_GetCode\b|\b_Py_CODEUNIT\b|"
                       r"\b(?:ma_version_tag|ma_keys|ma_values|tp_version_tag|func_version|co_code_adaptive|co_extra|"
                       r"co_localspluskinds|co_exceptiontable|f_frame|cframe|prev_instr|stacktop|ob_digit|lv_tag)\b|"
                       r"\b(?:PySetObject|setentry|PyGenObject|_PyInterpreterFrame|PyDictObject)\b|"
                       r"\b_Py(?:Code|Dict|Eval|Frame|Interpreter|Long|Runtime|Set)[A-Z_]|"
                       r"(?<![\w\"])(?:LOAD|STORE|DELETE|BUILD|BINARY|UNARY|POP_JUMP|JUMP)_[A-Z_]+\b(?![\"\w])")
LIBRARY = re.compile(r"terra_library\((\S+?)(?:\s+ROOMS\s+[^)]*?)?(?:\s+LINK\s+([^)]*))?\)")


@dataclasses.dataclass
class House:
    root: pathlib.Path
    long_files: dict  # path -> why it may be long

    @functools.cached_property
    def files(self):
        """Path relative to the root -> text."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            relative = path.relative_to(self.root)
            hidden = any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
            if hidden or relative.parts[0] == "build" or path.suffix not in TEXTS or not path.is_file():
                continue
            found[str(relative)] = path.read_text(encoding="utf-8", errors="replace")
        return found

    def includes(self):
        """(file, quote or angle, included path) for each include line."""
        for file, text in self.files.items():
            if file.endswith(SOURCES):
                for mark, target in INCLUDE.findall(text):
                    yield file, mark, target

    @functools.cached_property
    def links(self):
        """Second-level folder -> those it may include: what its library links, and what those link."""
        direct = {}
        for first in FOLDERS:
            for folder, words in LIBRARY.findall(self.files.get(f"{first}/CMakeLists.txt", "")):
                direct[folder] = words.split()
        name_of = {"terra_" + folder.replace("/", "_"): folder for folder in direct}

        def reach(folder, seen):
            if folder not in seen:
                seen.add(folder)
                for word in direct[folder]:
                    if word in name_of:
                        reach(name_of[word], seen)
            return seen

        return {folder: reach(folder, set()) for folder in direct}


def second_level(path):
    return "/".join(path.split("/")[:2])


def top_level_entries_are_fixed(house):
    for path in sorted(house.root.iterdir()):
        if not path.name.startswith(".") and path.name not in (*TOP_LEVEL, "build"):
            yield f"{path.name}: the top level holds {', '.join(TOP_LEVEL)} and dot-files only."


def includes_are_addresses(house):
    for file, mark, target in house.includes():
        if mark == '"' and target not in house.files:
            yield f'{file} includes "{target}", which is no path from the root of the repository to a file.'


def folders_use_those_to_their_left(house):
    for file, _, target in house.includes():
        user, used = file.split("/")[0], target.split("/")[0]
        if user in VISITORS or target not in house.files:
            continue
        if used in VISITORS:
            yield f"{file} includes {target}: nothing in the house knows {used}/."
        elif user in FOLDERS and FOLDERS.index(used) > FOLDERS.index(user):
            yield f"{file} includes {target}: {user}/ must not know {used}/, which is built on top of it."


def folders_use_what_they_link(house):
    for file, _, target in house.includes():
        user, used = second_level(file), second_level(target)
        if user in house.links and used in house.links and used not in house.links[user]:
            yield (f"{file} includes {target}, but {user.split('/')[0]}/CMakeLists.txt does not let {user} link "
                   f"{used}. Either the include runs against the arrows or the link is missing.")


def python_stays_in_interpreter_hooks(house):
    for file, _, target in house.includes():
        if target == "Python.h" and not file.startswith(PYTHON_FENCE):
            yield f"{file} includes Python.h: only interpreter_hooks/ and the launcher know it. Use an opaque handle."


def versions_of_cpython_stay_in_one_folder(house):
    for file, text in house.files.items():
        if not file.endswith(SOURCES) or file.startswith((CPYTHON_FENCE, "tests/")):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if found := VERSIONED.search(line.partition("//")[0]):
                yield (f"{file}:{number} uses {found[0]}, which differs between minor versions of CPython: say what you "
                       f"want to know in a header of {CPYTHON_FENCE}.")


def cuda_stays_in_kernels_cuda(house):
    for file, _, target in house.includes():
        if CUDA_HEADER.fullmatch(target) and not file.startswith(CUDA_FENCE):
            yield f"{file} includes {target}: CUDA headers stay under kernels/cuda/."


def kernels_of_a_device_stay_behind_its_backend(house):
    for file, _, target in house.includes():
        for folder, backend in BACKENDS.items():
            if target.startswith(folder) and not file.startswith((folder, backend, "tests/")):
                yield (f"{file} includes {target}: only the backend of a device ({backend}*) knows its kernels. Others ask "
                       "the table that engine/device/backend.h has.")


def tensors_change_in_one_place(house):
    for file, text in house.files.items():
        if not file.endswith(SOURCES) or file.startswith(("engine/tensor/", "tests/")) or file in OTHER_FIELDS:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if TENSOR_FIELD.search(line):
                yield (f"{file}:{number} changes what a tensor is: call what engine/tensor/epoch.h has for it, or those "
                       "who remember the tensor aren't told.")


def callables_are_known_by_their_rows(house):
    for file, text in house.files.items():
        if not file.startswith("interpreter_hooks/recorder/") or file in NAMING_FILES:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if CALLABLE_NAME.search(line):
                yield (f"{file}:{number} asks what a callable is called: what it does stands in its row "
                       "(interpreter_hooks/recorder/calls/call_models.h).")


def flags_of_ops_have_bits_of_their_own(house):
    taken = {}
    for file, text in house.files.items():
        if not file.startswith("engine/ops/") or not file.endswith(".h"):
            continue
        for flag, bit in FLAG.findall(text):
            if taken.setdefault(bit, flag) != flag:
                yield f"{file}: {flag} has bit {bit}, which {taken[bit]} has: a record with one of them has both."


def no_machine_paths(house):
    for file, text in house.files.items():
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINE_PATH.search(line):
                yield f"{file}:{number} names a folder of one particular machine."


def nothing_is_left_unfinished(house):
    for file, text in house.files.items():
        for number, line in enumerate(text.splitlines(), 1):
            if UNFINISHED.search(line):
                yield f"{file}:{number} notes unfinished work: finish it, or say as a fact what is not there."


def files_are_small(house):
    for file, text in house.files.items():
        lines = text.count("\n")
        if lines > LONGEST_FILE and file not in house.long_files:
            yield (f"{file} has {lines} lines, more than {LONGEST_FILE}: split it by concept, or say in "
                   "tests/architecture/long_files.txt why it has to be one file.")
    for file in house.long_files:
        if house.files.get(file, "").count("\n") <= LONGEST_FILE:
            yield f"tests/architecture/long_files.txt excuses {file}, which needs no excuse: take the line out."


def rooms_are_small(house):
    rooms = collections.Counter(str(pathlib.PurePath(file).parent) for file in house.files if file.endswith(SOURCES))
    for room, count in sorted(rooms.items()):
        if count > LARGEST_ROOM and not room.startswith(TABLES):
            yield f"{room}/ holds {count} source files, more than {LARGEST_ROOM}: give its concepts rooms of their own."


def every_folder_explains_itself(house):
    folders = {str(parent) for file in house.files for parent in pathlib.PurePath(file).parents}
    for folder in sorted(folders):
        parts = folder.split("/")
        if parts[0] not in (*FOLDERS, *VISITORS) or len(parts) > (1 if parts[0] == "tests" else 2):
            continue
        readme = f"{folder}/README.md"
        if readme not in house.files:
            yield f"{folder}/ has no README.md: say in half a screen what it is and what must stay true."
        elif (lines := house.files[readme].count("\n")) > LONGEST_README:
            yield f"{readme} has {lines} lines: half a screen ({LONGEST_README}) is what people read."


def variables_are_in_the_help(house):
    known = set(VARIABLE.findall(house.files.get(HELP, "")))
    for file, text in house.files.items():
        if file.split("/")[0] in FOLDERS and file.endswith((*SOURCES, ".py")):
            for name in sorted(set(VARIABLE.findall(text)) - known):
                yield f"{file}: {name} is read here and stands in no table of {HELP}, so --help-terra doesn't tell of it."


RULES = [
    top_level_entries_are_fixed, includes_are_addresses, folders_use_those_to_their_left, folders_use_what_they_link,
    python_stays_in_interpreter_hooks, versions_of_cpython_stay_in_one_folder, cuda_stays_in_kernels_cuda,
    kernels_of_a_device_stay_behind_its_backend, tensors_change_in_one_place, callables_are_known_by_their_rows,
    flags_of_ops_have_bits_of_their_own, no_machine_paths, nothing_is_left_unfinished, files_are_small, rooms_are_small, every_folder_explains_itself,
    variables_are_in_the_help,
]

# interpreter: python3
"""Each rule notices a house that breaks it, and no other rule complains about a sound one."""

import pathlib
import tempfile

from _rules import RULES, House

SOUND = {
    "kernels/README.md": "bytes\n",
    "kernels/CMakeLists.txt": "terra_library(kernels/abi)\nterra_library(kernels/cpu LINK terra_kernels_abi)\n",
    "kernels/abi/README.md": "types\n",
    "kernels/abi/view.h": "#include <vector>\n",
    "kernels/cpu/README.md": "loops\n",
    "kernels/cpu/loop.cpp": '#include "kernels/abi/view.h"\n',
    "engine/README.md": "tensors\n",
    "engine/CMakeLists.txt": "terra_library(engine/tensor LINK terra_kernels_abi)\n",
    "engine/tensor/README.md": "views of storage\n",
    "engine/tensor/tensor.h": '#include "kernels/abi/view.h"\n',
}

BROKEN = {
    "top_level_entries_are_fixed": {"notes.txt": "\n"},
    "includes_are_addresses": {"kernels/cpu/loop.cpp": '#include "loop.h"\n'},
    "folders_use_those_to_their_left": {"kernels/abi/view.h": '#include "engine/tensor/tensor.h"\n'},
    "folders_use_what_they_link": {"engine/tensor/tensor.h": '#include "kernels/cpu/loop.cpp"\n'},
    "python_stays_in_interpreter_hooks": {"engine/tensor/tensor.h": "#include <Python.h>\n"},
    "versions_of_cpython_stay_in_one_folder": {"engine/tensor/tensor.h": "  switch (opcode) {\n    case LOAD_FAST:\n"},
    "cuda_stays_in_kernels_cuda": {"kernels/cpu/loop.cpp": "#  include <cuda_runtime.h>\n"},
    "kernels_of_a_device_stay_behind_its_backend": {"engine/tensor/tensor.h": '#include "kernels/cpu/loop.cpp"\n'},
    "tensors_change_in_one_place": {"kernels/cpu/loop.cpp": "  t->storage = std::move(larger);\n"},
    "callables_are_known_by_their_rows": {"interpreter_hooks/recorder/x.cpp": '  if (model->name == "append") {\n'},
    "flags_of_ops_have_bits_of_their_own": {"engine/ops/a.h": "  kA = 1 << 3,\n", "engine/ops/b.h": "kB = 1 << 3;\n"},
    "no_machine_paths": {"kernels/cpu/loop.cpp": "// see /" + "home/me\n"},
    "nothing_is_left_unfinished": {"kernels/cpu/loop.cpp": "// TO" + "DO faster\n"},
    "files_are_small": {"kernels/cpu/loop.cpp": "\n" * 801},
    "rooms_are_small": {f"engine/tensor/part{i}.h": "\n" for i in range(46)},
    "every_folder_explains_itself": {"kernels/cpu/README.md": "words\n" * 41},
    "variables_are_in_the_help": {"kernels/cpu/loop.cpp": 'auto x = getenv("TERRA_LOOP");\n'},
}


def violations(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        house = House(pathlib.Path(folder), {})
        return {rule.__name__: sentences for rule in RULES if (sentences := list(rule(house)))}


assert not violations(SOUND), violations(SOUND)
assert set(BROKEN) == {rule.__name__ for rule in RULES}
for rule, change in BROKEN.items():
    noticed = violations(SOUND | change)
    assert rule in noticed, f"{rule} does not notice {change}"
print(f"{len(BROKEN) + 1} passed")

"""A measured interpreter, and worker processes in it."""

import json
import os
import pathlib
import subprocess

WORKER = pathlib.Path(__file__).resolve().parent / "worker.py"
POOL_VARIABLES = ("OPENBLAS_", "MKL_", "OMP_", "KMP_", "BLIS_", "GOTO_", "DNNL_", "ONEDNN_", "TERRA_", "PYTHON")


class Subject:
    """`command` runs a script in the interpreter."""

    def __init__(self, kind, command, threads, **variables):
        self.kind = kind
        self.command = command
        self.threads = threads
        self.variables = variables

    def with_variables(self, **variables):
        return Subject(self.kind, self.command, self.threads, **variables)

    def has(self, program):
        """Whether there is a form of the program that the interpreter can run. JAX has its own, in programs/jax_*.py."""
        return self.kind != "jax" or (WORKER.parent / "programs" / f"jax_{program}.py").exists()

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(POOL_VARIABLES)}
        kept |= {"PYTHONDONTWRITEBYTECODE": "1", "CUDA_VISIBLE_DEVICES": ""}
        kept |= {"TERRA_THREADS": str(self.threads)} if self.kind == "terra" else {"OMP_NUM_THREADS": str(self.threads)}
        return kept | self.variables

    def start(self, program, variant, **settings):
        """A worker that runs the program; settings are arguments of its build()."""
        return Worker(self, program, variant, settings)

    def one_line(self, code):
        """The command that runs a line of Python."""
        return [word for word in self.command if word != "--torch"] + ["-c", code]


class Worker:
    """A process that times blocks of calls when told to."""

    def __init__(self, subject, program, variant, settings):
        self._process = subprocess.Popen(
            [*subject.command, str(WORKER), subject.kind, program, variant, str(subject.threads), json.dumps(settings)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=subject.environment(),
        )  # fmt: skip
        self.hello = self._answer()

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            raise SystemExit(f"terra-bench: a worker ended early: {' '.join(self._process.args)}")
        return json.loads(line)

    def ask(self, **request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def block(self, calls):
        """Seconds per call."""
        return self.ask(do="block", calls=calls)["seconds"] / calls

    def stop(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

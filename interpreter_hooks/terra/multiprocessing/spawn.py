"""Starting several processes that run one function, and waiting for all of them."""

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import tempfile
import traceback

__all__ = ["ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "spawn", "start_processes"]


class ProcessException(Exception):
    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised; the message has the traceback."""


class ProcessExitedException(ProcessException):
    """The process ended otherwise: by a signal or an exit code."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _run(fn, i, args, error_file):
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent was interrupted too, and says so
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        raise SystemExit(1) from None


class ProcessContext:
    """Processes that run together."""

    def __init__(self, processes, error_files):
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self):
        return [process.pid for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """True when all have ended well. When one failed the others are ended, and what it raised is raised here."""
        if not self.sentinels:
            return True
        failed = None
        for sentinel in multiprocessing.connection.wait(self.sentinels, timeout=timeout):
            i = self.sentinels.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode != 0:
                failed = i
                break
        if failed is None:
            return not self.sentinels
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        self._raise(failed)

    def _raise(self, i):
        process = self.processes[i]
        if os.path.exists(self.error_files[i]) and os.path.getsize(self.error_files[i]):
            with open(self.error_files[i], "rb") as file:
                text = pickle.load(file)
            message = f"\n\n-- Process {i} terminated with the following error:\n{text}"
            raise ProcessRaisedException(message, i, process.pid)
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            raise ProcessExitedException(f"process {i} terminated with signal {name}", i, process.pid, code, name)
        raise ProcessExitedException(f"process {i} terminated with exit code {code}", i, process.pid, code)


SpawnContext = ProcessContext


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs fn(i, *args) in nprocs processes."""
    context = multiprocessing.get_context(start_method)
    processes, error_files = [], []
    folder = tempfile.TemporaryDirectory(prefix="terra-errors-")
    for i in range(nprocs):
        error_files.append(os.path.join(folder.name, str(i)))
        process = context.Process(target=_run, args=(fn, i, args, error_files[-1]), daemon=daemon)
        process.start()
        processes.append(process)
    running = ProcessContext(processes, error_files)
    running._folder = folder
    if not join:
        return running
    while not running.join():
        pass


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    if start_method != "spawn":
        raise ValueError(f"spawn starts processes by the method 'spawn', not '{start_method}': use start_processes.")
    return start_processes(fn, args, nprocs, join, daemon)

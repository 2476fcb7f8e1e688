"""What the machine is, and whether its second core is free."""

import os
import platform
import subprocess
import sys
import time

LEAST_SCALING = 1.8
SPIN = "import time\nt = time.perf_counter()\nx = 0\nfor i in range(6_000_000): x += i & 3\nprint(time.perf_counter() - t)"


def _spin(count):
    """Seconds that each of `count` equal processes took, started together: the slowest."""
    processes = [subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE, text=True) for _ in range(count)]
    return max(float(process.communicate()[0]) for process in processes)


def two_core_scaling(times=3):
    """How much more two processes get done than one: 2.0 on two free cores, 1.0 on one. The best of a few tries."""
    return max(2 * _spin(1) / _spin(2) for _ in range(times))


def facts(terra_run):
    version = subprocess.run([terra_run, "--version"], capture_output=True, text=True)
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return {
        "terra": version.stdout.strip().split("\n"),
        "processor": model,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "load_before": os.getloadavg()[0],
        "time": time.strftime("%Y-%m-%d %H:%M:%S"),
        "unset": sorted(k for k in os.environ if k.startswith(("OPENBLAS_", "MKL_", "OMP_", "KMP_", "BLIS_"))),
    }


def seconds_of_others():
    """Processor seconds that everything on the machine has used so far."""
    with open("/proc/stat", encoding="ascii") as file:
        values = [int(v) for v in file.readline().split()[1:9]]
    return (sum(values) - values[3] - values[4]) / os.sysconf("SC_CLK_TCK")

# run:
# run: TERRA_HOOK=passthrough
"""Recursion as deep as plain Python allows also works under a frame hook, where every call uses C stack."""

import os
import resource
import subprocess
import sys
import threading

HOOKED = os.environ.get("TERRA_HOOK") == "passthrough"


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def endless(n=0):
    global deepest
    deepest = n
    endless(n + 1)


def raises_recursion_error():
    try:
        endless()
    except RecursionError:
        return True


before = resource.getrlimit(resource.RLIMIT_STACK)
sys.setrecursionlimit(10**9 if HOOKED else 300_000)
assert depth(200_000) == 200_000
assert raises_recursion_error() and deepest > 250_000, deepest
assert depth(200_000) == 200_000

results = []
thread = threading.Thread(target=lambda: results.append(raises_recursion_error()))
thread.start()
thread.join()
assert results == [True] and deepest > 10_000, deepest

pid = os.fork()
if pid == 0:
    os._exit(depth(100_000) != 100_000)
assert os.waitpid(pid, 0)[1] == 0

# Nobody else notices: the limit is what it was, here and in children.
assert resource.getrlimit(resource.RLIMIT_STACK) == before
child = "import resource; print(resource.getrlimit(resource.RLIMIT_STACK))"
assert subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout.strip() == str(before)
print("6 passed")

# interpreter: python3
# timeout: 3600
# long
"""Threads, processes, signals, and the parts of the interpreter that a frame hook could disturb."""

from _compare import compare

compare([
    "test_subprocess", "test_threading", "test_signal", "test_faulthandler", "test_fork1", "test_thread",
    "test_generators", "test_coroutines", "test_asyncgen", "test_contextlib", "test_decorators", "test_exceptions",
    "test_raise", "test_with", "test_scope", "test_super", "test_class", "test_descr", "test_frame", "test_code",
    "test_dis", "test_inspect", "test_sys_settrace", "test_sys_setprofile", "test_bdb", "test_traceback", "test_gc",
    "test_weakref", "test_pickle", "test_copy", "test_importlib", "test_venv", "test_atexit",
])

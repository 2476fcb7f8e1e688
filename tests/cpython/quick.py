# interpreter: python3
# timeout: 600
"""The tests of Python's language and command line that take seconds."""

from _compare import compare

compare(["test_grammar", "test_runpy", "test_cmd_line", "test_cmd_line_script", "test_sys", "test_site"])

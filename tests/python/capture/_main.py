"""The main program of files whose tests are functions: terra-run FILE.py [NAME...]"""
import sys

import terra


def run_tests(tests):
    """Runs those that are named, or all. No internal error and no wrong entry may have been counted at the end."""
    chosen = sys.argv[1:]
    failed = 0
    for test in tests:
        if chosen and test.__name__ not in chosen:
            continue
        try:
            test()
        except Exception as error:
            failed += 1
            print(f"{test.__name__}: {type(error).__name__}: {error}")
            if chosen:
                raise
    stats = terra.capture.stats()
    assert stats["internal_errors"] == 0 and stats["wrong"] == 0, stats
    print(f"{len(tests) - failed} passed")
    sys.exit(bool(failed))

"""A list of named checks, run in order; each prints one line."""

import sys
import traceback

CHECKS = []


def check(name):
    def register(run):
        CHECKS.append((name, run))
        return run

    return register


def equal(seen, wanted):
    if seen != wanted:
        raise AssertionError(f"expected {wanted!r}, got {seen!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def raises(kind, call):
    """The error, so that its fields can be looked at."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"expected {kind.__name__}, got an answer")


def run_all():
    failed = 0
    for name, run in CHECKS:
        try:
            run()
            print(f"pass  {name}", flush=True)
        except Exception as error:  # a check that breaks is a check that fails
            failed += 1
            print(f"FAIL  {name}: {type(error).__name__}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc(limit=-2)
    print(f"{len(CHECKS) - failed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)

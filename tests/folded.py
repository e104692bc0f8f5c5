"""Run many small cases as one test, because pytest's overhead per test is larger than their run time."""

import functools
import inspect


def for_each(names, cases, ids=str):
    """Run the test with every case, like `parametrize` but as one test that fails after the last case.

    Use it for dozens of cases of a few milliseconds each. A failure names its case.
    """
    names = [name.strip() for name in names.split(",")]

    def fold(test):
        @functools.wraps(test)
        def run(**fixtures):
            failed = []
            for case in cases:
                given = dict(zip(names, case if len(names) > 1 else [case], strict=True))
                try:
                    test(**given, **fixtures)
                except Exception as error:
                    error.add_note(f"in the case {ids(case)}")
                    failed.append(error)
            if len(failed) > 1:
                raise ExceptionGroup(f"{len(failed)} of {len(cases)} cases", failed)
            if failed:
                raise failed[0]

        asked = inspect.signature(test)
        left = [value for name, value in asked.parameters.items() if name not in names]
        run.__signature__ = asked.replace(parameters=left)  # pytest must only see the fixtures
        return run

    return fold

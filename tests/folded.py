"""Many small cases as one test: what pytest does around a test takes longer than they do."""

import functools
import inspect


def for_each(names, cases, ids=str):
    """Run the test with every case, as `parametrize` would, but as one test: it fails after the last case.

    Take it where there are dozens of cases of a few milliseconds. What fails says which case it was.
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
        run.__signature__ = asked.replace(parameters=left)  # for pytest: the fixtures alone
        return run

    return fold

"""Talk to a student's process: the judge's end of the pipe.

Nothing that arrives is trusted. A message must be one line of at most `LONGEST` bytes, JSON of a known form,
and arrive in time; otherwise the process is stopped. Neither reading nor writing blocks longer than the time
left.
"""

import contextlib
import json
import os
import select
import time

from press.grade import wire
from press.grade.fence import LIMITS

LONGEST = 4 << 20  # bytes per message
START = 60  # seconds for Python to start
CALLS = 100_000  # how often one answer may call our functions


class Stopped(BaseException):
    """The student's process cannot be used any more; the message says why.

    This is not an `Exception`, so that no checker can catch it.
    """


class Raised(Exception):
    """An error raised by the student's function; subclasses carry the name of the original type."""


def slow(seconds):
    """Return the message for code that exceeded its time limit."""
    return f"the code took longer than {seconds:g} seconds and was stopped"


ENDED = "the process ended: the code called exit or ran out of memory"
UNREADABLE = "the answer could not be read: the code returned too much, or wrote to the answer channel"


class Student:
    """A sandboxed process that runs the cells of a notebook and answers calls of its functions."""

    def __init__(self, fence):
        self.process, self.rest, self.number, self.error = fence.start(), b"", 0, None
        self.to, self.source = self.process.stdin.fileno(), self.process.stdout.fileno()
        for file in (self.to, self.source):
            os.set_blocking(file, False)
        try:
            self.begin(START)
            self.say(LIMITS)
            self.hear()
        except BaseException:
            self.end()
            raise

    def begin(self, seconds):
        """Give the student's code this many seconds from now on.

        Only time spent waiting for the process, or in our functions that it calls, counts; the rest of the
        judge's work does not.
        """
        self.seconds = self.left = seconds

    def wait(self, read, write):
        """Wait until a file is ready to read or write; raise `Stopped` when the time is up."""
        start = time.monotonic()
        ready = self.left > 0 and any(select.select(read, write, [], self.left))
        self.left -= time.monotonic() - start
        if not ready:
            raise Stopped(slow(self.seconds))

    def say(self, message):
        """Send a message."""
        data = memoryview(wire.line(message))
        while data:
            self.wait([], [self.to])
            try:
                data = data[os.write(self.to, data[: 1 << 12]) :]
            except BlockingIOError:
                time.sleep(0.01)  # the student's code has made the pipe smaller than a page
                self.left -= 0.01
            except OSError:
                raise Stopped(ENDED) from None

    def hear(self):
        """Return the next message, a dict."""
        while b"\n" not in self.rest:
            self.wait([self.source], [])
            with contextlib.suppress(BlockingIOError):
                more = os.read(self.source, 1 << 16)
                if not more:
                    raise Stopped(ENDED)
                self.rest += more
            if len(self.rest) > LONGEST:
                raise Stopped(UNREADABLE)
        line, self.rest = self.rest.split(b"\n", 1)
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise Stopped(UNREADABLE) from None
        if not isinstance(message, dict):
            raise Stopped(UNREADABLE)
        return message

    def run(self, cells, asked, seconds, at=None):
        """Run the cells [(number, (exercise, source))]; return (functions found, errors raised) by exercise.

        `at` is called with the number of each cell before it runs, and with None after the last one.
        """
        at = at or (lambda number: None)
        self.begin(seconds)
        numbers = [number for number, _ in cells]
        at(numbers[0] if numbers else None)
        self.say({"cells": cells, "asked": asked})
        for number, following in zip(numbers, [*numbers[1:], None], strict=True):
            if self.hear().get("ran") != number:
                raise Stopped(UNREADABLE)
            at(following)
            self.begin(seconds)
        heard = self.hear()
        try:
            found = {name: [f for f in asked[name] if f in heard["found"][name]] for name in asked}
            wrong = {name: error(heard["wrong"][name]) for name in asked if name in heard["wrong"]}
        except (KeyError, TypeError, AttributeError):
            raise Stopped(UNREADABLE) from None
        return found, wrong

    def ask(self, exercise, name, args, kwargs):
        """Call the student's function and return its value; raise its error as one of the same name."""
        functions = []
        self.number += 1
        self.say(
            {
                "exercise": exercise,
                "name": name,
                "args": [wire.pack(value, functions) for value in args],
                "kwargs": {key: wire.pack(value, functions) for key, value in kwargs.items()},
                "id": self.number,
            }
        )
        for _ in range(CALLS):
            answer = self.hear()
            if "back" not in answer:
                break
            self.say(self.called_back(answer, functions))
        if answer.get("id") != self.number:
            raise Stopped(UNREADABLE)
        if "error" in answer:
            self.error = error(answer["error"])
            raise type(self.error["type"], (Raised,), {})(self.error["text"])
        try:
            return wire.unpack(answer.get("value"))
        except wire.Garbled:
            raise Stopped(UNREADABLE) from None

    def called_back(self, asked, functions):
        """Call one of our functions for the student's code, and return its value or error as a message."""
        try:
            function = functions[int(asked["back"])]
            args = [wire.unpack(value) for value in asked["args"]]
        except Exception:
            raise Stopped(UNREADABLE) from None
        start = time.monotonic()
        try:
            return {"value": wire.pack(function(*args), functions)}
        except Exception as problem:
            return {"raised": [type(problem).__name__, str(problem)[:500]]}
        finally:
            self.left -= time.monotonic() - start

    def end(self):
        """Kill the process and all its remaining children."""
        self.process.kill()  # ends bubblewrap, hence its first process and all others inside
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def error(told):
    """Return an error report from the process as a clean dict {type, text, line, source}."""
    if not isinstance(told, dict):
        raise Stopped(UNREADABLE)
    name, text, source = (str(told.get(key) or "")[:500] for key in ("type", "text", "source"))
    line = told.get("line")
    line = line if type(line) is int and 0 < line < 100_000 else None
    return {
        "type": name if name.isidentifier() else "Exception",
        "text": text,
        "line": line,
        "source": source,
    }

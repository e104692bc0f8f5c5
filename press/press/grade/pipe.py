"""Talk to a student's process: the judge's end of the pipe.

Nothing that comes back is trusted: it must be a line of at most `LONGEST` bytes, JSON of a known shape, in
time, or the process is ended. Neither reading nor writing waits longer than the time that is left.
"""

import contextlib
import json
import os
import select
import time

from press.grade import wire
from press.grade.fence import LIMITS

LONGEST = 4 << 20  # bytes of a message
START = 60  # seconds until Python is there
CALLS = 100_000  # calls that an answer may make of one of our functions


class Stopped(BaseException):
    """The student's process is of no more use, for this reason. No Exception: no checker may catch it."""


class Raised(Exception):
    """What the student's function raised: its type's name is this class's name."""


def slow(seconds):
    return f"it took longer than {seconds:g} seconds and was stopped"


ENDED = "its process ended: the code made it exit, or ran out of memory"
UNREADABLE = "what came back could not be read: the code returned too much, or wrote where answers go"


class Student:
    """A process behind the fence that has run a notebook's cells and answers calls."""

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
        """From now on the student's code may take so many seconds, with what it has the judge's functions
        do; what else the judge takes does not count.
        """
        self.seconds = self.left = seconds

    def wait(self, read, write):
        start = time.monotonic()
        ready = self.left > 0 and any(select.select(read, write, [], self.left))
        self.left -= time.monotonic() - start
        if not ready:
            raise Stopped(slow(self.seconds))

    def say(self, message):
        data = memoryview(wire.line(message))
        while data:
            self.wait([], [self.to])
            try:
                data = data[os.write(self.to, data[: 1 << 12]) :]
            except BlockingIOError:
                time.sleep(0.01)  # the other side made the pipe smaller than a page
                self.left -= 0.01
            except OSError:
                raise Stopped(ENDED) from None

    def hear(self):
        """The next message, a dict."""
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
        """Run cells, [(number, (exercise, source))]; `at` hears which one is next. Returns what it found."""
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
        """What the student's function returns; its error is raised as one of the same name."""
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
        """Call one of our functions for the student's code; what it raises is raised over there."""
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
        """End the process and all that is left of it."""
        self.process.kill()  # bubblewrap dies, and with it the first process inside, and so all of them
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def error(told):
    """An error as it was told, made plain: {type, text, line, source}."""
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

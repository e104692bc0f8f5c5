"""Convert values to plain data and back, for the pipe between the judge and a student's code.

Numbers, strings, lists, arrays and fractions arrive unchanged, arrays with their dtype. A function stays
where it is: the other side gets a stand-in that calls it through the pipe. Anything else arrives as an
`Other`, which shows what it was and does not convert to a number. The same file runs in the judge and in the
sandbox, and needs only NumPy. Reading takes little time and memory, even for malicious input.
"""

import base64
import json
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np

SHOWN = 300  # characters of a repr
KINDS = "biufc"  # kinds of numeric dtypes
DIGITS = 2048, 1 << 18  # hexadecimal, of an integer: kept exactly, read at all
LENGTH, ENTRIES = 1 << 24, 1000  # limits for an axis, for a dict


class Garbled(ValueError):
    """The data from the pipe is not a value that `pack` could have written."""


class Other:
    """A value of a type that cannot be sent: the name of its type and its repr."""

    def __init__(self, name, text):
        self.name, self.text = str(name)[:SHOWN], str(text)[:SHOWN]

    def __repr__(self):
        return self.text


def pack(value, functions=None):
    """Convert a value to JSON data.

    If `functions` is a list, a function is appended to it and sent as its index, and an object of another
    type is pickled. Only the judge does that, and only the sandbox ever loads a pickle.
    """
    if value is None or (isinstance(value, bool | float | str) and type(value) in (bool, float, str)):
        return value
    if type(value) is int:
        return value if abs(value) < 1 << 63 else {"int": hex(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": value.dtype.str, "shape": list(value.shape), "data": data}
    if isinstance(value, np.generic) and value.dtype.kind in KINDS:
        return {"scalar": pack(np.asarray(value))}
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        parts = [pack(part, functions) for part in value.ravel().tolist()]
        return {"objects": parts, "shape": list(value.shape)}
    if isinstance(value, list | tuple):
        return {
            type(value).__name__ if type(value) in (list, tuple) else "list": [
                pack(v, functions) for v in value
            ]
        }
    if type(value) is dict:
        return {"dict": [[pack(k, functions), pack(v, functions)] for k, v in value.items()]}
    if isinstance(value, Fraction):
        return {"fraction": [hex(value.numerator), hex(value.denominator)]}
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, bool | int | float | str):  # a subclass, for example an IntEnum
        return pack(next(kind for kind in (bool, int, float, str) if isinstance(value, kind))(value))
    if functions is not None and callable(value):
        functions.append(value)
        return {"function": len(functions) - 1, "name": getattr(value, "__name__", "function")}
    if functions is not None:
        return {"pickle": base64.b64encode(pickle.dumps(value)).decode()}
    return {"other": [type(value).__name__[:SHOWN], repr(value)[:SHOWN]]}


def unpack(data, call=None):
    """Convert JSON data back to the value; raise `Garbled` if `pack` cannot have written it.

    `call(place, args)` calls a function on the other side. Without it, functions and pickles are rejected.
    """
    try:
        return _read(data, call)
    except Garbled:
        raise
    except Exception as error:
        raise Garbled(f"a value that cannot be read ({type(error).__name__})") from None


def _read(data, call):
    """Convert JSON data to a value; `unpack` turns its errors into `Garbled`."""
    if data is None or isinstance(data, bool | int | float | str):
        return data
    if not isinstance(data, dict):
        raise Garbled("no value")
    keys = data.keys() - {"shape", "data", "name"}
    if len(keys) != 1:
        raise Garbled("no value")
    (kind,) = keys
    inside = data[kind]
    if kind == "array":
        dtype = np.dtype(inside)
        if dtype.kind not in KINDS or dtype.shape or not isinstance(inside, str):
            raise Garbled("no array of numbers")
        flat = np.frombuffer(base64.b64decode(data["data"], validate=True), dtype)
        return flat.reshape(_shape(data)).copy()
    if kind == "scalar":
        return _read(inside, call)[()]
    if kind == "objects":
        parts = np.empty(len(inside), dtype=object)
        parts[:] = [_read(part, call) for part in inside]
        return parts.reshape(_shape(data))
    if kind in ("list", "tuple"):
        parts = [_read(part, call) for part in inside]
        return parts if kind == "list" else tuple(parts)
    if kind == "dict" and len(inside) <= ENTRIES:
        return {_read(k, call): _read(v, call) for k, v in inside}
    if kind == "int":
        return _integer(inside) if len(inside) <= DIGITS[0] else Other("int", f"{inside[:20]}…, an integer")
    if kind == "fraction":
        above, below = map(_integer, inside)
        return Fraction(above, below) if max(map(len, inside)) <= DIGITS[0] else above / below
    if kind == "complex":
        return complex(*inside)
    if kind == "other":
        name, text = inside
        return Other(name, text)
    if call and kind == "function":
        return stand_in(inside, data["name"], call)
    if call and kind == "pickle":
        return pickle.loads(base64.b64decode(inside))
    raise Garbled("no value")


def _shape(data):
    """Return the shape of an array after checking it: an empty array could claim a huge one."""
    if any(type(n) is not int or not 0 <= n <= LENGTH for n in data["shape"]):
        raise Garbled("no shape")
    return data["shape"]


def _integer(text):
    """Return the integer of a hexadecimal text, unless that is too long."""
    if len(text) > DIGITS[1]:
        raise Garbled("an integer that is too long")
    return int(text, 16)


def stand_in(place, name, call):
    """Return a function that is evaluated on the other side of the pipe."""

    def function(*args):
        return call(place, args)

    function.__name__ = function.__qualname__ = name
    return function


def line(message):
    """Return a message as one line of bytes."""
    return json.dumps(message).encode() + b"\n"

"""Compute keys (hashes) of code and data, so that `ocolab.sweep` knows when a stored row is out of date.

`key(name, thing)` follows everything that a function, an object or a value refers to: the bytecode of
functions as loaded (not the file on disk), their constants (which include docstrings), defaults, closures,
imports and the globals they name; the methods of classes; every attribute of an object; every byte of an
array. Code that belongs to Python itself or to an installed package is identified by its name and version.
An object that cannot be followed completely, such as an open file, a lock or a generator, raises a
`ValueError` that names it. So does the environment (`os.environ`), which other programs change. Not seen are:
annotations and the docstrings of classes; what a function looks up under a name that it computes; what it
reads from files, from the network or from the clock; a setting of an installed package, such as the precision
of mpmath; and what `lru_cache` or numba keep of a value that was changed after they had used it.
"""

import builtins
import dis
import functools
import hashlib
import importlib.metadata
import importlib.util
import inspect
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

CODE = types.FunctionType, type
CONSTANTS = type(None), bool, int, float, complex, str, bytes
#: {base: how to read the content of an object of a subclass, whose own methods may return something else}
CONTENTS: dict[type, Callable[[Any], Any]] = {
    list: lambda x: list.__getitem__(x, slice(None)),
    tuple: lambda x: tuple.__getitem__(x, slice(None)),
    dict: lambda x: dict(dict.items(x)),
    set: set,
    frozenset: frozenset,
    int: int.__pos__,
    float: float.__pos__,
    str: lambda x: str.__getitem__(x, slice(None)),
    bytes: lambda x: bytes.__getitem__(x, slice(None)),
    np.ndarray: lambda x: np.ndarray.view(x, np.ndarray),
}
#: attributes that Python and dataclasses add to a class; they do not change what the class does
NOTES = {
    "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__", "__annotations_cache__",
    "__dataclass_fields__", "__dataclass_params__", "__dict__", "__doc__", "__firstlineno__", "__module__",
    "__orig_bases__", "__parameters__", "__qualname__", "__slotnames__", "__static_attributes__",
    "__weakref__", "_abc_impl",
}  # fmt: skip
INSTALLED = [
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")
]


_remembered: dict[int, tuple[Any, str]] = {}
_call = ""


def remember(call: str) -> None:
    """Start a cache for the keys of functions and classes, identified by the string `call`.

    All calls with the same `call` share one cache, so that each function is followed only once. A new
    `call` clears the cache, because the code may have changed since then; `remember("")` switches it off.
    """
    global _call
    if call != _call:
        _call = call
        _remembered.clear()


def key(name: str, thing: Any) -> str:
    """Return a hash of everything that `thing` consists of and uses, as a hexadecimal string.

    The objects reached form a graph. It can have cycles, for example functions that call each other. Each
    node starts with the hash of its own content; then, round after round, it is hashed again together with
    the hashes of its children, in order, until a round distinguishes no further nodes. The key combines the
    number of rounds, the final hash of `thing` and the sorted set of all final hashes. Whether two equal
    objects are one object or two does not change the key. Inside a value, a function or class is
    represented by its own key.

    Arguments: `name` is what error messages call the thing, `thing` any value, object, function or class.
    Raises a `ValueError` if some part cannot be followed completely.

    >>> key("x", [1, 2.0]) == key("y", [1, 2.0]), key("x", [1, 2.0]) == key("x", [1, 2])
    (True, False)
    """
    if id(thing) in _remembered:
        return _remembered[id(thing)][1]
    nodes: dict[int, tuple[str, list[int]]] = {}
    alive: list[Any] = []  # keeps every object alive: an id is unique only among living objects
    pending, code = [(name, thing)], isinstance(thing, CODE)
    while pending:
        where, x = pending.pop()
        if id(x) in nodes:
            continue
        by_key = isinstance(x, CODE) and not code
        try:
            label, parts = (("code", key(where, x)), []) if by_key else _describe(where, x)
        except ValueError:
            raise
        except Exception as reason:  # raised by a method of x
            raise ValueError(_refusal(where, x)) from reason
        alive.append((x, parts))
        nodes[id(x)] = _digest(label), [id(part) for _, part in parts]
        pending += parts
    seen, apart, rounds = {i: label for i, (label, _) in nodes.items()}, 0, 0
    while len(set(seen.values())) > apart:
        apart, rounds = len(set(seen.values())), rounds + 1
        seen = {i: _digest(label, *(seen[j] for j in children)) for i, (label, children) in nodes.items()}
    made = _digest(rounds, seen[id(thing)], *sorted(set(seen.values())))
    if _call and code and _lasting(thing):
        _remembered[id(thing)] = thing, made
    return made


def _lasting(thing: Any) -> bool:
    """Test whether a function or class is the one that its module holds under its name, not a copy."""
    found: Any = sys.modules.get(thing.__module__)
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is thing


def _digest(*parts: Any) -> str:
    """Hash the `repr` of the parts."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _describe(where: str, x: Any) -> tuple[tuple, list[tuple[str, Any]]]:
    """Return the label of x, which describes x without its parts, and its parts [(name, part)] in order."""
    kind = type(x)
    if kind in (float, complex):
        return (kind.__name__, np.array(x).tobytes()), []  # tells −0 from 0, and one nan from another
    if x is ... or x is NotImplemented or kind in CONSTANTS:
        return (kind.__name__, repr(x)), []
    if x is os.environ or x is os.getenv:
        raise ValueError(
            f"{where} cannot be kept in a file: the environment may change unnoticed; read it before, and "
            "pass on what was read, or sweep without file="
        )
    if kind in (np.ndarray, np.memmap) and not x.dtype.hasobject:  # joblib passes large arrays as memmaps
        content = hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()
        layout: Any = x.flags.fnc  # the order in memory may change how sums are rounded
        if not x.flags.forc:
            layout = [step for step, length in zip(x.strides, x.shape, strict=True) if length > 1]
        return ("array", repr(x.dtype), x.shape, layout, content), []
    if isinstance(x, np.dtype) and not x.hasobject:
        return (kind.__name__, repr(x)), []
    if isinstance(x, np.generic) and not x.dtype.hasobject:
        return (kind.__name__, (repr(x.dtype), x.tobytes())), []
    if kind in (list, tuple):
        return (kind.__name__,), [(f"{where}[{i}]", part) for i, part in enumerate(x)]
    if kind in (dict, types.MappingProxyType):
        items = (((f"{where} key", k), (f"{where}[{k!r}]", v)) for k, v in x.items())
        return ("dict",), [part for item in items for part in item]
    if kind in (set, frozenset):
        return (kind.__name__, sorted(key(where, part) for part in x)), []
    if isinstance(x, types.ModuleType):  # handed on as a value, so any of its names may be used
        names = [] if _version(x.__name__) else [n for n in sorted(vars(x)) if not n.startswith("__")]
        return (_module(x.__name__), names), [(f"{n} of {where}", vars(x)[n]) for n in names]
    if isinstance(x, types.CodeType):
        used = x.co_names, x.co_varnames, x.co_freevars, x.co_cellvars
        counts = x.co_flags, x.co_argcount, x.co_posonlyargcount, x.co_kwonlyargcount
        handlers = getattr(x, "co_exceptiontable", b"").hex()
        label = ("code", x.co_name, x.co_code.hex(), *used, *counts, handlers)
        return label, [(f"a constant of {where}", c) for c in x.co_consts]
    installed = _installed(x)
    if installed and isinstance(x, types.FunctionType) and not _lasting(x):
        # a closure made by an installed function: the version covers its code, not what it holds
        return installed, _held(where, x)
    if installed:
        return installed, _replaced(where, x)
    if isinstance(x, types.FunctionType):
        return ("function", x.__qualname__), _function(where, x)
    if isinstance(x, types.MethodType):
        return ("method",), [(where, x.__func__), (f"{where}.__self__", x.__self__)]
    if isinstance(x, type):
        parts = [(f"{where}.{n}", v) for n, v in sorted(vars(x).items()) if n not in NOTES]
        names = [n for n, _ in sorted(vars(x).items()) if n not in NOTES]
        bases = [(f"a base of {where}", b) for b in x.__bases__]
        notes = [(where, f.metadata) for f in vars(x).get("__dataclass_fields__", {}).values()]
        return ("class", x.__qualname__, names), [*parts, *notes, *bases, (f"the class of {where}", kind)]
    if kind in (staticmethod, classmethod):
        return (kind.__name__,), [(where, x.__func__)]
    if kind is property:
        return ("property",), [(where, f) for f in (x.fget, x.fset, x.fdel)]
    if kind is functools.cached_property:
        return ("cached property",), [(where, x.func)]
    if isinstance(x, types.MemberDescriptorType):  # an entry of __slots__
        return ("slot", x.__name__), []
    for inner in ("__wrapped__", "py_func") if _installed(kind) else ():  # as in lru_cache and numba
        if isinstance(getattr(x, inner, None), types.FunctionType) and not hasattr(kind, inner):
            options = (f"the options of {where}", getattr(x, "targetoptions", None))
            held = vars(x) if kind is functools._lru_cache_wrapper else {}  # attributes set by its user
            held = {n: v for n, v in held.items() if n[:2] != "__" and n != "cache_parameters"}
            return ("wrapped", kind.__name__), [(where, getattr(x, inner)), options, (where, held or None)]
    if _installed(kind):
        return _reduced(where, x)
    return _instance(where, x)


def _function(where: str, f: types.FunctionType) -> list[tuple[str, Any]]:
    """List the parts of a function: its code, what it holds, and the globals and imports that it uses."""
    parts: list[tuple[str, Any]] = [(where, f.__code__), *_held(where, f)]
    globals_, imports = _asked(f.__code__)
    known = vars(builtins) | f.__globals__
    used = [(name, known[name]) for name in globals_ if name in known]
    used += [(name, _imported(f, name)) for name in imports]
    for name, value in used:
        parts += [(where, name), *_looked_up(f"{name}, which {where} uses", name, value, f.__code__)]
    return parts


def _looked_up(where: str, name: str, value: Any, code: types.CodeType, seen: tuple = ()) -> list:
    """List a value that code finds under a name; of a module only its name and version, and what counts of
    the names that the code uses, unless the code hands the module on."""
    if not isinstance(value, types.ModuleType):
        return [(where, value)]
    if not _version(value.__name__) and {name, name.rpartition(".")[2]} & _handed_on(code):
        return [(where, value)]
    inside = [] if value in seen else _inside(where, value, code, (*seen, value))
    return [(where, _module(value.__name__)), *inside]


def _module(name: str) -> str:
    """Return a label for a module: its name, and its version if it is installed."""
    return " ".join(("the module", name, *_version(name)))


def _held(where: str, f: types.FunctionType) -> list[tuple[str, Any]]:
    """List the defaults, the attributes and the closure of a function."""
    parts: list[tuple[str, Any]] = [
        (f"a default of {where}", f.__defaults__),
        (f"a default of {where}", f.__kwdefaults__),
        (f"an attribute of {where}", vars(f) or None),
    ]
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            parts += _looked_up(f"{name}, which {where} uses", name, cell.cell_contents, f.__code__)
        except ValueError:  # the variable has no value yet
            parts.append((name, ("empty cell",)))
    return parts


def _inside(where: str, module: types.ModuleType, code: types.CodeType, seen: tuple) -> list[tuple[str, Any]]:
    """List those names in the code that a module defines, with their values.

    Of a module that is not installed, submodules are imported for this, so that the key does not depend on
    whether something else has already imported them. Of an installed module only what `_counts` is listed.
    """
    parts: list[tuple[str, Any]] = []
    installed = _version(module.__name__)
    for name in _names(code):
        full = f"{module.__name__}.{name}"
        if not installed and hasattr(module, "__path__") and importlib.util.find_spec(full):
            try:
                value: Any = importlib.import_module(full)
            except ImportError:
                continue
        elif name in vars(module):
            value = vars(module)[name]
        else:
            continue
        if not installed or _counts(module, name, value):
            parts += [(where, name), *_looked_up(f"{name} of {where}", name, value, code, seen)]
    return parts


def _counts(module: types.ModuleType, name: str, value: Any) -> bool:
    """Test whether the value of a name in an installed module is part of a key.

    Somebody may have replaced it, so code and constants count. What has a state of its own, such as the
    generator behind `np.random.rand`, does not: a name can be that of another object's attribute.
    """
    if isinstance(value, types.ModuleType):
        return value.__name__ == f"{module.__name__}.{name}"
    kind = type(value)
    if name.startswith("__") or (kind is types.MethodType and _installed(value.__func__)):
        return False
    wrapped = isinstance(getattr(value, "__wrapped__", None), types.FunctionType)
    code = wrapped or isinstance(value, (*CODE, np.ufunc, functools.partial)) or _installed(value)
    return bool(code) or kind in CONSTANTS or value is os.environ or not _installed(kind)


def _replaced(where: str, x: Any) -> list[tuple[str, Any]]:
    """List the methods of an installed class that somebody has replaced by functions of their own."""
    parts = []
    for cls in x.__mro__ if isinstance(x, type) else ():
        for name, value in vars(cls).items():
            inner = getattr(value, "__func__", getattr(value, "fget", value))
            if isinstance(inner, types.FunctionType) and not _installed(inner):
                parts += [(where, name), (f"{name} of {where}", inner)]
    return parts


@functools.lru_cache(maxsize=10_000)
def _asked(code: types.CodeType) -> tuple[list[str], list[str]]:
    """Return (globals, imports): the names that a code object, or one nested in it, looks up or imports."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    # a class statement inside a function looks globals up with LOAD_NAME or LOAD_FROM_DICT_OR_GLOBALS
    names = {s.argval for s in steps if "GLOBAL" in s.opname or s.opname == "LOAD_NAME"}
    imports = {  # two instructions earlier the level is loaded, the number of dots of a relative import
        "." * steps[i - 2].argval + s.argval for i, s in enumerate(steps) if s.opname == "IMPORT_NAME"
    }
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names, imports = names.union(_asked(inner)[0]), imports.union(_asked(inner)[1])
    return sorted(names), sorted(imports)


def _imported(f: types.FunctionType, name: str) -> Any:
    """Return what an import inside f finds: a module, its name and version if installed, else a text."""
    try:
        full = importlib.util.resolve_name(name, f.__globals__.get("__package__"))
        python = full.partition(".")[0] in sys.stdlib_module_names
        if _version(full) and not python:  # importing it may take long
            return _module(full)
        return importlib.import_module(full)
    except ImportError:
        return f"no module {name}"


@functools.lru_cache(maxsize=10_000)
def _handed_on(code: types.CodeType) -> frozenset[str]:
    """Return the names whose value the code uses as a whole: it reads more than an attribute of them at once.

    A module that is imported under another name counts as one of them.
    """
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("EXTENDED_ARG", "CACHE")]
    found, own = set[str](), set[str]()
    for step, after in pairwise([*steps, steps[-1]]):
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        if step.opname in ("IMPORT_NAME", "IMPORT_FROM"):
            own = {step.argval.partition(".")[0], step.argval.rpartition(".")[2]}
        elif step.opname.startswith("STORE_") and own:
            found |= set() if names[0] in own else own
            own = set()
        elif "LOAD_" in step.opname and step.opname not in ("LOAD_CONST", "LOAD_CLOSURE"):
            read = after.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")
            found |= {str(name) for name in names[: -1 if read else None]}
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return frozenset(found.union(*map(_handed_on, inner)))


@functools.lru_cache(maxsize=10_000)
def _names(code: types.CodeType) -> list[str]:
    """List the names of all globals and attributes in a code object and in those nested in it."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return sorted(set(code.co_names).union(*map(_names, inner)))


def _instance(where: str, x: Any) -> tuple[tuple, list[tuple[str, Any]]]:
    """Describe an object whose class is not installed code by its class and all its attributes."""
    kind, held = type(x), dict[str, Any]()
    with suppress(AttributeError):  # x has slots only
        held |= object.__getattribute__(x, "__dict__")
    for cls in kind.__mro__:
        for name, value in vars(cls).items():
            if isinstance(value, types.MemberDescriptorType):  # an entry of __slots__
                with suppress(AttributeError):  # without a value
                    held[f"{name} of {cls.__qualname__}"] = value.__get__(x)
            if isinstance(value, functools.cached_property) and name in held:
                with suppress(Exception):  # left out: computed from the rest, maybe not yet
                    if key(where, value.func(x)) == key(where, held[name]):
                        del held[name]
    parts = [(f"the class of {where}", kind), *((f"{where}.{n}", held[n]) for n in sorted(held))]
    for base, content in CONTENTS.items():
        if issubclass(kind, base):
            parts.append((f"the content of {where}", content(x)))
    if any(_installed(cls) for cls in kind.__mro__ if cls is not object and cls not in CONTENTS):
        # an installed base may keep state outside its attributes: ask pickle, which may refuse
        default = kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__
        made = _pickled(where, x)
        # entry 2 of the default reduction is the attributes, which are listed already
        parts += [part for i, part in enumerate(made) if not (default and i == 2)]
    return ("object", sorted(held)), parts


def _reduced(where: str, x: Any) -> tuple[tuple, list[tuple[str, Any]]]:
    """Describe an object of an installed class by what pickle would store."""
    if isinstance(x, np.ufunc) and x is not _ufunc(x.__name__):  # np.frompyfunc hides the Python function
        raise ValueError(_refusal(where, x))
    return ("reduced", type(x).__qualname__), _pickled(where, x)


def _pickled(where: str, x: Any) -> list[tuple[str, Any]]:
    """List what pickle would store of an object: how to build it, and its state."""
    if isinstance(x, types.GeneratorType) or inspect.isasyncgen(x):
        raise ValueError(_refusal(where, x))
    try:
        made = x.__reduce_ex__(4)
    except Exception as reason:
        raise ValueError(_refusal(where, x)) from reason
    if isinstance(made, str):
        return [(f"the name of {where}", made)]
    parts = [list(p) if isinstance(p, Iterable) and i > 2 else p for i, p in enumerate(made)]
    return [(f"a part of {where}", part) for part in parts]


def _ufunc(name: str) -> Any:
    """Return the ufunc of NumPy or SciPy with this name, or None."""
    modules = (sys.modules.get(module) for module in ("numpy", "scipy.special", "scipy.special._ufuncs"))
    return next((getattr(module, name) for module in modules if hasattr(module, name)), None)


def _refusal(where: str, x: Any) -> str:
    """Return the message for an object whose content cannot be read completely."""
    kind = type(x).__name__
    return (
        f"{where} cannot be kept in a file: the content of a {kind} cannot be read completely, "
        "so a change to it would go unnoticed; create it inside the function, or sweep without file="
    )


def _installed(x: Any) -> tuple | None:
    """Return a label with name and version for code of Python or of an installed package, else None."""
    if isinstance(x, (types.BuiltinFunctionType, types.MethodWrapperType)):
        owner = getattr(x, "__self__", None)
        if owner is not None and not isinstance(owner, (types.ModuleType, type)):
            return None  # bound to an object: `_reduced` includes that object
    elif isinstance(x, (types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType,
                        types.ClassMethodDescriptorType)):  # fmt: skip
        return _installed(x.__objclass__) and ("descriptor", x.__objclass__.__qualname__, x.__name__)
    elif isinstance(x, np.ufunc):
        if x is not _ufunc(x.__name__):
            return None
    elif isinstance(x, type):  # the module name of a class made by `exec` can be wrong
        if x.__flags__ & (1 << 9) and not x.__flags__ & (1 << 8) and not _lasting(x):
            return None
    elif isinstance(x, types.FunctionType):
        file = x.__code__.co_filename  # <…>: made by `exec`, as those of dataclasses are
        if not _shipped(file) and not (file.startswith("<") and _lasting(x)):
            return None
    elif "cython" not in type(x).__name__:
        return None
    module = getattr(x, "__module__", None) or ("numpy" if isinstance(x, np.ufunc) else "builtins")
    version = _version(module)
    return ("installed", module, getattr(x, "__qualname__", x.__name__), *version) if version else None


@functools.cache
def _shipped(file: str) -> bool:
    """Test whether this file belongs to Python or to an installed package."""
    return file.startswith("<frozen ") or any(p in Path(file).resolve().parents for p in INSTALLED)


@functools.cache
def _version(module: str) -> tuple[str, ...]:
    """Return the version of an installed module as a tuple of length 1; () if it is not installed code."""
    top = module.partition(".")[0]
    python = sys.implementation.cache_tag + " " + sys.version.partition(" ")[0]
    if top in sys.builtin_module_names or (top in sys.stdlib_module_names and top != "__main__"):
        return (python,)
    loaded = sys.modules.get(top)
    spec = None if loaded or not top.isidentifier() else importlib.util.find_spec(top)
    file = spec.origin if spec else getattr(loaded, "__file__", None)
    if top == "__main__" or file is None or not _shipped(file):
        return ()
    version = getattr(loaded, "__version__", None)
    if not isinstance(version, str):
        try:
            version = importlib.metadata.version(top)
        except importlib.metadata.PackageNotFoundError:
            return ()
    return (f"{top} {version}",)

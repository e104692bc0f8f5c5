"""Keys that change whenever what would run changes: made from loaded code and complete values.

`key(name, thing)` follows everything that a function, an object or a value reaches: the bytecode of functions
as loaded (not the file on disk), their constants, defaults, closures, imports and the globals they name; the
methods of classes; every attribute of an object; every byte of an array. Code that is installed, in Python
itself or as a package, counts by its name and version. What cannot be followed is refused by name: an open
file, a lock, a generator. Not seen is what a function finds by a name that it computes, and what it reads
from files or from the network.
"""

import dis
import functools
import hashlib
import importlib.metadata
import importlib.util
import inspect
import sys
import sysconfig
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

CODE = types.FunctionType, type
#: what Python and dataclasses write into a class beside its code and values
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
    """Remember the keys of functions and classes until the next call: they are followed once.

    Between two calls the code may change, so nothing is remembered from one to the next.
    """
    global _call
    if call != _call:
        _call = call
        _remembered.clear()


def key(name: str, thing: Any) -> str:
    """Return a digest of all that `thing` is and uses; `name` is what an error calls it.

    The objects reached form a graph, with cycles: functions that call each other. Each node begins with the
    digest of its own content and takes in those of its neighbours in order, again and again, until that tells
    no more nodes apart. The key is that of the first node and of the set of all. It does not depend on which
    equal objects are one object. A value refers to functions and classes by their keys.
    """
    if id(thing) in _remembered:
        return _remembered[id(thing)][1]
    nodes: dict[int, tuple[str, list[int]]] = {}
    alive: list[Any] = []  # an id is good as long as its object lives
    pending, code = [(name, thing)], isinstance(thing, CODE)
    while pending:
        where, x = pending.pop()
        if id(x) in nodes:
            continue
        label, parts = (
            (("code", key(where, x)), []) if isinstance(x, CODE) and not code else _describe(where, x)
        )
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
    """Is it a function or class that its module holds, and so not one of many copies?"""
    found: Any = sys.modules.get(thing.__module__)
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is thing


def _digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _describe(where: str, x: Any) -> tuple[tuple, list[tuple[str, Any]]]:
    """Return what x is in itself, and [(name, part)] that it is made of, in order."""
    kind = type(x)
    if x is None or x is ... or x is NotImplemented or kind in (bool, int, str, bytes, complex):
        return (kind.__name__, repr(x)), []
    if kind is float:
        return ("float", x.hex()), []
    if kind is np.ndarray and x.dtype != object and not x.dtype.hasobject:
        return (
            "array",
            repr(x.dtype),
            x.shape,
            hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest(),
        ), []
    if (
        isinstance(x, (np.generic, np.dtype))
        and not np.dtype(x if isinstance(x, np.dtype) else x.dtype).hasobject
    ):
        return (kind.__name__, repr(x) if isinstance(x, np.dtype) else (repr(x.dtype), x.tobytes())), []
    if kind in (list, tuple):
        return (kind.__name__,), [(f"{where}[{i}]", part) for i, part in enumerate(x)]
    if kind in (dict, types.MappingProxyType):
        return ("dict",), [
            part for k, v in x.items() for part in ((f"{where} key", k), (f"{where}[{k!r}]", v))
        ]
    if kind in (set, frozenset):
        return (kind.__name__, sorted(key(where, part) for part in x)), []
    if isinstance(x, types.ModuleType):  # which of its names count is said by the function that uses it
        return ("module", x.__name__, *_version(x.__name__)), []
    if isinstance(x, types.CodeType):
        own = (
            x.co_code.hex(),
            x.co_names,
            x.co_varnames,
            x.co_freevars,
            x.co_cellvars,
            x.co_flags,
            x.co_argcount,
        )
        more = (x.co_posonlyargcount, x.co_kwonlyargcount, getattr(x, "co_exceptiontable", b"").hex())
        return ("code", x.co_name, *own, *more), [(f"a constant of {where}", c) for c in x.co_consts]
    installed = _installed(x)
    if installed and isinstance(x, types.FunctionType) and not _lasting(x):  # made by an installed function
        return installed, _held(where, x)
    if installed:
        return installed, []
    if isinstance(x, types.FunctionType):
        return ("function", x.__qualname__), _function(where, x)
    if isinstance(x, types.MethodType):
        return ("method",), [(where, x.__func__), (f"{where}.__self__", x.__self__)]
    if isinstance(x, type):
        parts = [(f"{where}.{n}", v) for n, v in sorted(vars(x).items()) if n not in NOTES]
        names = [n for n, _ in sorted(vars(x).items()) if n not in NOTES]
        bases = [(f"a base of {where}", b) for b in x.__bases__]
        return ("class", x.__qualname__, names), [*parts, *bases, (f"the class of {where}", kind)]
    if isinstance(x, (staticmethod, classmethod)):
        return (kind.__name__,), [(where, x.__func__)]
    if isinstance(x, property):
        return ("property",), [(where, f) for f in (x.fget, x.fset, x.fdel)]
    if isinstance(x, functools.cached_property):
        return ("cached property",), [(where, x.func)]
    if isinstance(x, types.MemberDescriptorType):  # of __slots__
        return ("slot", x.__name__), []
    for inner in ("__wrapped__", "py_func") if _installed(kind) else ():  # lru_cache, numba
        if isinstance(getattr(x, inner, None), types.FunctionType) and not hasattr(kind, inner):
            options = (f"the options of {where}", getattr(x, "targetoptions", None))
            return ("wrapped", kind.__name__), [(where, getattr(x, inner)), options]
    if _installed(kind):
        return _reduced(where, x)
    return _instance(where, x)


def _function(where: str, f: types.FunctionType) -> list[tuple[str, Any]]:
    """List the code of a function, what it holds and the globals that it names."""
    parts: list[tuple[str, Any]] = [(where, f.__code__), *_held(where, f)]
    names = _names(f.__code__)
    globals_, imports = _asked(f.__code__)
    used = [(name, f.__globals__[name]) for name in globals_ if name in f.__globals__]
    used += [(name, _imported(f, name)) for name in imports]
    for name, value in used:
        parts.append((f"{name}, which {where} uses", value))
        parts += _inside(f"{name}, which {where} uses", value, names)
    return parts


def _held(where: str, f: types.FunctionType) -> list[tuple[str, Any]]:
    """List the defaults, the attributes and the closure of a function."""
    parts: list[tuple[str, Any]] = [
        (f"a default of {where}", f.__defaults__),
        (f"a default of {where}", f.__kwdefaults__),
        (f"an attribute of {where}", vars(f)),
    ]
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            parts.append((f"{name}, which {where} uses", cell.cell_contents))
        except ValueError:  # a variable without a value yet
            parts.append((name, ("empty cell",)))
    return parts


def _inside(where: str, module: Any, names: list[str]) -> list[tuple[str, Any]]:
    """List what a function takes from a module that is not installed; rooms of a package are opened for it.

    So the key is the same whether or not something else has loaded a room already.
    """
    if not isinstance(module, types.ModuleType) or _version(module.__name__):
        return []
    parts: list[tuple[str, Any]] = []
    for name in names:
        full = f"{module.__name__}.{name}"
        if hasattr(module, "__path__") and importlib.util.find_spec(full):
            try:
                room = importlib.import_module(full)
            except ImportError:
                continue
            parts += [(f"{name} of {where}", ("module", full)), *_inside(f"{name} of {where}", room, names)]
        elif name in vars(module):
            parts.append((f"{name} of {where}", vars(module)[name]))
    return parts


@functools.lru_cache(maxsize=10_000)
def _asked(code: types.CodeType) -> tuple[list[str], list[str]]:
    """List the globals that a code and those inside it use, and the modules that they import."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    # a class statement inside a function asks by LOAD_NAME or LOAD_FROM_DICT_OR_GLOBALS
    names = {s.argval for s in steps if "GLOBAL" in s.opname or s.opname == "LOAD_NAME"}
    imports = {  # two steps before stands how many dots the name has
        "." * steps[i - 2].argval + s.argval for i, s in enumerate(steps) if s.opname == "IMPORT_NAME"
    }
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names, imports = names.union(_asked(inner)[0]), imports.union(_asked(inner)[1])
    return sorted(names), sorted(imports)


def _imported(f: types.FunctionType, name: str) -> Any:
    """Return the module that an import inside f finds; its name if there is none."""
    try:
        full = importlib.util.resolve_name(name, f.__globals__.get("__package__"))
        if _version(full):  # the same whether or not something else has loaded it
            return ("module", full, _version(full))
        return importlib.import_module(full)
    except ImportError:
        return f"no module {name}"


@functools.lru_cache(maxsize=10_000)
def _names(code: types.CodeType) -> list[str]:
    """List all names in a code and in those inside it: of globals and of attributes."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return sorted(set(code.co_names).union(*map(_names, inner)))


def _instance(where: str, x: Any) -> tuple[tuple, list[tuple[str, Any]]]:
    """Describe an object of a class that is not installed: its class and every attribute."""
    kind = type(x)
    held = dict(getattr(x, "__dict__", {}))
    for cls in kind.__mro__:
        slots = vars(cls).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            private = slot.startswith("__") and not slot.endswith("__")
            name = f"_{cls.__name__.lstrip('_')}{slot}" if private else slot
            if slot not in ("__dict__", "__weakref__") and hasattr(x, name):
                held[name] = getattr(x, name)
        for name, value in vars(cls).items():
            if isinstance(value, functools.cached_property):
                held.pop(name, None)  # made from the others
    parts = [(f"the class of {where}", kind), *((f"{where}.{n}", held[n]) for n in sorted(held))]
    bases: Any = (list, tuple, dict, set, frozenset, int, float, str, bytes, np.ndarray)
    for base in bases:
        if isinstance(x, base):
            plain = x.view(np.ndarray) if base is np.ndarray else base(x)
            parts.append((f"the content of {where}", plain))
    if any(_installed(cls) for cls in kind.__mro__ if cls is not object and cls not in bases):
        # what such a base holds may be in no attribute: pickle knows, or says that it does not
        default = kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__
        made = _pickled(where, x)
        parts += [part for i, part in enumerate(made) if not (default and i == 2)]  # 2: the attributes again
    return ("object", sorted(held)), parts


def _reduced(where: str, x: Any) -> tuple[tuple, list[tuple[str, Any]]]:
    """Describe an object of an installed class by what pickle would keep of it."""
    if isinstance(x, np.ufunc) and x is not _ufunc(x.__name__):  # made by np.frompyfunc
        raise ValueError(_refusal(where, x))
    return ("reduced", type(x).__qualname__), _pickled(where, x)


def _pickled(where: str, x: Any) -> list[tuple[str, Any]]:
    """List what pickle would keep of an object: how to make it, and its state."""
    if isinstance(x, types.GeneratorType) or inspect.isasyncgen(x):
        raise ValueError(_refusal(where, x))
    try:
        made = x.__reduce_ex__(4)
    except Exception as reason:
        raise ValueError(_refusal(where, x)) from reason
    if isinstance(made, str):
        return [(f"the name of {where}", made)]
    return [
        (f"a part of {where}", list(p) if isinstance(p, Iterable) and i > 2 else p)
        for i, p in enumerate(made)
    ]


def _ufunc(name: str) -> Any:
    """Find a ufunc of NumPy or SciPy by its name."""
    rooms = (sys.modules.get(room) for room in ("numpy", "scipy.special", "scipy.special._ufuncs"))
    return next((getattr(room, name) for room in rooms if hasattr(room, name)), None)


def _refusal(where: str, x: Any) -> str:
    return f"{where} cannot be kept in a file: nothing says completely what a {type(x).__name__} holds"


def _installed(x: Any) -> tuple | None:
    """Return (kind, name, version) of a function, class or other thing that came with Python or a package."""
    if isinstance(x, (types.BuiltinFunctionType, types.MethodWrapperType)):
        owner = getattr(x, "__self__", None)
        if owner is not None and not isinstance(owner, (types.ModuleType, type)):
            return None  # bound to an object: `_reduced` takes the object in
    elif isinstance(x, (types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType,
                        types.ClassMethodDescriptorType)):  # fmt: skip
        return _installed(x.__objclass__) and ("descriptor", x.__objclass__.__qualname__, x.__name__)
    elif isinstance(x, np.ufunc):
        if x is not _ufunc(x.__name__):
            return None
    elif isinstance(x, type):  # a class statement run by `exec` may say any module
        if x.__flags__ & (1 << 9) and not x.__flags__ & (1 << 8) and not _lasting(x):
            return None
    elif isinstance(x, types.FunctionType):
        if not _lasting(x) and not _shipped(x.__code__.co_filename):
            return None
    elif "cython" not in type(x).__name__:
        return None
    module = getattr(x, "__module__", None) or ("numpy" if isinstance(x, np.ufunc) else "builtins")
    version = _version(module)
    return ("installed", module, getattr(x, "__qualname__", x.__name__), *version) if version else None


@functools.cache
def _shipped(file: str) -> bool:
    """Is this file a part of Python or of an installed package?"""
    return file.startswith("<frozen ") or any(p in Path(file).resolve().parents for p in INSTALLED)


@functools.cache
def _version(module: str) -> tuple[str, ...]:
    """Return the version of an installed module, as a tuple of one; () if it is not installed code."""
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

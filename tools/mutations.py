"""What may be changed in a source, and how each change is named.

A mutant is one operator, comparison, number, truth value, condition or function such as min turned into
another. Annotations, words (strings, what is in f-strings) and `raise` are left alone, and so is `strict=`,
which is a check itself. The name of a mutant does not hang on the line where it is.
"""

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import yaml

PAIRS = "Add Sub, Mult Div, BitAnd BitOr, LShift RShift, Lt LtE, Gt GtE, Eq NotEq, Is IsNot, In NotIn, And Or"
ONE_WAY = "Pow Mult, FloorDiv Div, Mod Mult, MatMult Mult, BitXor BitAnd, USub UAdd"
SWAPS = "min max, minimum maximum, argmin argmax, floor ceil, any all"


def pairs(text, both=True):
    """{a: b} of "a b, …" and, if both, {b: a}."""
    there = dict(pair.split() for pair in text.split(","))
    return there | ({b: a for a, b in there.items()} if both else {})


OPERATORS = {getattr(ast, a): getattr(ast, b) for a, b in (pairs(PAIRS) | pairs(ONE_WAY, False)).items()}
SWAP = pairs(SWAPS)


def negated(test):
    return ast.UnaryOp(ast.Not(), test)


def variants(node):
    """[(attribute, its other value)]: each is a mutant."""
    match node:
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp() | ast.UnaryOp(op=ast.USub()):
            return [("op", OPERATORS[type(node.op)]())]
        case ast.UnaryOp(op=ast.Not()):
            return [("operand", negated(node.operand))]
        case ast.Compare(ops=ops):
            return [("ops", [*ops[:i], OPERATORS[type(op)](), *ops[i + 1 :]]) for i, op in enumerate(ops)]
        case ast.keyword(arg="axis", value=ast.UnaryOp(operand=ast.Constant(value=value))):
            return [("value", ast.Constant(-value - 1))]  # +1 is often the same axis
        case ast.Constant(value=bool(value)):
            return [("value", not value)]
        case ast.Constant(value=int(value) | float(value)):
            return [("value", value + 1 if value + 1 != value else 2 * value)]
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
            return [] if switched(test) else [("test", negated(test))]
        case ast.comprehension(ifs=[test]):
            return [] if switched(test) else [("ifs", [negated(test)])]
        case ast.Name(id=name, ctx=ast.Load()) if name in SWAP:
            return [("id", SWAP[name])]
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in SWAP:
            return [("attr", SWAP[name])]
    return []


def switched(test):
    """Is the condition one that another mutant negates already?"""
    ends = ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn
    match test:
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=[op]):
            return isinstance(op, ends)
    return False


def left_alone(node):
    """The parts of a node where nothing is changed: annotations, f-strings, `raise`, `strict=`, …"""
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return [node]
        case ast.keyword(arg="strict") | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return [node]
        case ast.keyword(arg="axis", value=ast.UnaryOp()):
            return [node.value]
    return [getattr(node, name, None) for name in ("annotation", "returns")]


@dataclass(frozen=True)
class Mutant:
    """The `variant`-th change of the `index`-th node (as `ast.walk` counts) of a module."""

    module: str
    where: str  # the function or class, as Class.method, or "module"
    change: str  # "2 * T → 3 * T", and " (2)" if it is the second such of its function
    index: int = field(compare=False)
    variant: int = field(compare=False)
    lines: tuple = field(compare=False)  # first and last of the statement (a block: its head) or its holder
    inside: bool = field(compare=False)  # of a function: its code can be replaced

    @property
    def key(self):
        return f"{self.module}::{self.where}: {self.change}"

    def tree(self):
        """The mutated module."""
        tree = ast.parse(Path(self.module).read_text("utf8"))
        node = list(ast.walk(tree))[self.index]
        setattr(node, *variants(node)[self.variant])
        return ast.fix_missing_locations(tree)


def mutants_of(module, root=Path()):
    """All mutants of a file (its path from the root), in the order of `ast.walk`."""
    tree = ast.parse((root / module).read_text("utf8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    skipped = {part for node in ast.walk(tree) for top in left_alone(node) if top for part in ast.walk(top)}
    found, seen = [], defaultdict(int)
    for index, node in enumerate(ast.walk(tree)):
        for variant, (name, other) in enumerate(variants(node) if node not in skipped else []):
            shown = context(node, parents)
            before, kept = brief(shown), getattr(node, name)
            setattr(node, name, other)
            change = f"{before} → {brief(shown)}"
            setattr(node, name, kept)
            where, lines, inside = place(node, parents)
            seen[where, change] += 1
            change += f" ({seen[where, change]})" * (seen[where, change] > 1)
            found.append(Mutant(module, where, change, index, variant, lines, inside))
    return found


def context(node, parents):
    """What is shown of a change: the expression, and if it is short what it is part of."""
    while len(ast.unparse(node)) < 12 and isinstance(parents.get(node), ast.expr | ast.keyword | ast.Slice):
        if isinstance(parents[node], ast.Dict):
            break
        node = parents[node]
    return node


def brief(node):
    """The source in one line; of a statement with a body its first."""
    text = ast.unparse(ast.fix_missing_locations(node))
    return text.split("\n")[0] if isinstance(node, ast.stmt) else " ".join(text.split())


def place(node, parents):
    """(function, lines, inside): what a node is part of, and which lines tell that it was passed."""
    names, inside, lines, holder = [], False, None, None
    while node in parents:
        child, node = node, parents[node]
        if lines is None and isinstance(child, ast.stmt):
            head = hasattr(child, "body") and not isinstance(child, ast.FunctionDef)  # of a def its defaults
            last = max(child.lineno, child.body[0].lineno - 1) if head else child.end_lineno
            decorators = [d.lineno for d in getattr(child, "decorator_list", [])]  # a lambda may stand there
            lines = min([child.lineno, *decorators]), last
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
            holder = holder or node
        runs = isinstance(node, ast.FunctionDef) and child in node.body
        inside = inside or runs or (isinstance(node, ast.Lambda) and child is node.body)
    if not inside:
        lines = (holder.lineno, holder.end_lineno) if holder else (1, node.body[-1].end_lineno)
    return ".".join(reversed(names)) or "module", lines, inside


def explained(file):
    """{key: reason}; the file is {module: {function: {change: reason}}}."""
    tree = yaml.safe_load(file.read_text("utf8")) if file.exists() else {}
    return {
        f"{module}::{where}: {change}": reason
        for module, places in (tree or {}).items()
        for where, changes in places.items()
        for change, reason in changes.items()
    }

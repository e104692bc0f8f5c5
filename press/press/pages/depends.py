"""Find out which cells of a page depend on which: the names that a cell reads, binds, changes and imports.

Used when notebooks are made, when exercises are recorded and graded, and in the reader's browser, where
running a cell first runs the cells that it builds on. It therefore needs the standard library only.
"""

import ast
import symtable
from functools import cache

MUTATING = {
    "append",
    "extend",
    "insert",
    "pop",
    "update",
    "add",
    "setdefault",
    "sort",
    "shuffle",
}


class Names:
    """The names that a cell uses, binds, changes in place and imports.

    A name counts as used if the cell reads it before binding it, including built-in and imported names.
    """

    def __init__(self, source):
        self.used, self.bound, self.changed, self.imported = set(), set(), set(), {}
        try:
            tree = ast.parse(source)
        except SyntaxError:  # an IPython magic such as %pip
            return
        for statement in steps(Scoped().visit(ast.parse(source)).body):
            table = symtable.symtable(ast.unparse(statement), "cell", "exec")
            self.used |= reads(table) - self.bound
            self.bound |= {
                s.get_name() for s in table.get_symbols() if s.is_assigned() and not s.is_imported()
            }
        for node in ast.walk(tree):
            self.changed |= changes(node)
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in node.names:
                    module = getattr(node, "module", None) or name.name
                    self.imported[name.asname or name.name.partition(".")[0]] = module.partition(".")[0]


class Scoped(ast.NodeTransformer):
    """Replace comprehensions by generators, because since Python 3.12 only these get a symbol table."""

    def visit_ListComp(self, node):
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node):
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return self.generic_visit(ast.GeneratorExp(pair, node.generators))


@cache
def names_of(source):
    """Return `Names(source)`, computed once per cell."""
    return Names(source)


def steps(body):
    """Yield the statements of a cell in the order in which they run, with loops and blocks opened."""
    for node in body:
        if isinstance(node, ast.For):
            yield ast.copy_location(ast.Assign([node.target], node.iter), node)
        elif isinstance(node, ast.With):
            for item in node.items:
                bound = [item.optional_vars] if item.optional_vars else [ast.Name("_", ast.Store())]
                yield ast.copy_location(ast.Assign(bound, item.context_expr), node)
        elif isinstance(node, ast.If | ast.While):
            yield ast.Expr(node.test)
        elif not isinstance(node, ast.Try):
            yield node
            continue
        for part in ("body", "handlers", "orelse", "finalbody"):
            for inner in getattr(node, part, []):
                if isinstance(inner, ast.ExceptHandler) and inner.name:
                    yield ast.Assign(
                        [ast.Name(inner.name, ast.Store())],
                        inner.type,
                        lineno=inner.lineno,
                    )
                yield from steps(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def reads(table):
    """Return the names of the page that a statement, or a function defined in it, refers to."""
    top = table.get_type() == "module"
    own = {s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global())}
    return own.union(*map(reads, table.get_children()))


def changes(node):
    """Return the names whose values a node changes in place.

    That is, by assigning to an item or attribute, by a method in `MUTATING`, or by any method of an rng.
    """
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = root_name(node.func)
        return {owner} if node.func.attr in MUTATING or "rng" in owner else set()
    if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return {root_name(node)}
    return set()


def root_name(node):
    """Return the variable at the start of `a.b[c].d`, or an empty string."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def dependencies(sources, passive):
    """For each cell, return the numbers (from 1) of all cells whose values it builds on.

    `passive` holds the positions of worked solutions: a name that they share with the exercise belongs to the
    exercise.
    """
    modules, makers, result = set(), {}, []
    for position, names in enumerate(map(names_of, sources)):
        modules |= names.imported.keys()
        direct = {maker for name in names.used for maker in makers.get(name, ())}
        result.append(direct.union(*(result[maker] for maker in direct)))
        for name in (names.bound | names.changed) - modules:
            if position in passive and makers.get(name):
                continue
            afresh = name in names.bound and name not in names.used
            makers[name] = {position} if afresh else {*makers.get(name, ()), position}
    return [sorted(position + 1 for position in needed) for needed in result]


@cache
def imports_of(source):
    """Return only the top-level imports of a cell, because the rest may take long to run."""
    body = ast.parse(source).body
    return "\n".join(ast.unparse(node) for node in body if isinstance(node, (ast.Import, ast.ImportFrom)))


def unchecked(source, wanted):
    """Return the statements of a cell without those that only check: asserts, prints, loops over asserts.

    A loop stays if it changes something in place, or binds a name that is in `wanted` or that the cell reads
    later.
    """
    body, kept, later = ast.parse(source).body, [], set(wanted)
    for node in reversed(body):
        if not only_checks(node, later):
            kept.append(node)
            later |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return kept[::-1]


def only_checks(node, later):
    """Return whether a statement only checks or prints; `later` are the names read after it."""
    if isinstance(node, ast.For) and any(isinstance(part, ast.Assert) for part in ast.walk(node)):
        names = names_of(ast.unparse(node))
        return not names.bound & later and names.changed <= names.bound - names.used
    called = getattr(getattr(node, "value", None), "func", None)
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and root_name(called) == "print")

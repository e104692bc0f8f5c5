"""Make the reference pages from docstrings, which are plain text with `code` and tables.

Provides the directive `{room}`, and converts docstrings to reStructuredText for autodoc.
"""

import importlib
import inspect
import re

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


class Room(SphinxDirective):
    """``{room} ocolib.sets``: list what a module has, one line each, then show it in full."""

    required_arguments = 1
    option_spec = {"members": directives.unchanged, "imported-members": directives.flag}  # noqa: RUF012

    def run(self):
        module = importlib.import_module(self.arguments[0])
        listed = self.options.get("members", "")
        lines = [".. list-table::", "   :widths: auto", "   :class: room", ""]
        inside = "imported-members" in self.options
        for name in re.split(r",\s*", listed) if listed else public(module, inside):
            lines.append(f"   * - :py:obj:`{name} <{module.__name__}.{name}>`")
            lines.append(f"     - {literal(first_line(getattr(module, name)))}")
        lines += ["", f".. automodule:: {module.__name__}", f"   :members: {listed}"]
        if inside:
            lines.append("   :imported-members:")
        place = nodes.container()
        text = ["```{eval-rst}", *lines, "```"]
        self.state.nested_parse(StringList(text, self.env.docname), self.content_offset, place)
        return place.children


def public(module, inside=False):
    """Return the names that autodoc shows: public, documented, and defined in the module.

    With `inside`, names defined in its submodules count too. `__all__` takes precedence.
    """
    homes = (module.__name__, f"{module.__name__}.") if inside else (module.__name__,)

    def own(value):
        home = getattr(value, "__module__", None) or ""
        return home == homes[0] or home.startswith(homes[1:])

    said = getattr(module, "__all__", None) or [name for name, value in vars(module).items() if own(value)]
    found = [name for name in said if not name.startswith("_")]
    return [name for name in found if callable(getattr(module, name)) and first_line(getattr(module, name))]


def first_line(thing):
    """Return the first paragraph of a docstring as one line."""
    return (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ")


def plain_docstrings(app, what, name, obj, options, lines):
    """Convert a docstring, plain text with `code` and | tables |, to reStructuredText in place."""
    result, example, table = [], False, False
    for line in lines:
        text = line.strip()
        if re.fullmatch(r"\|[|: -]+\|", text):
            continue  # the line below a table's header
        example = bool(text) and (example or text.startswith(">>>"))
        row = text.startswith("|") and text.endswith("|")
        if row and not table:
            result += ["", ".. list-table::", "   :header-rows: 1", ""]
        if row:
            cells = [literal(cell.strip()) for cell in text.strip("|").split(" | ")]
            result += [f"   {'  ' if n else '* '}- {cell}" for n, cell in enumerate(cells)]
        else:
            result.append(line if example else literal(line))
        table = row
    lines[:] = result


def literal(line):
    r"""Mark `code` as literal, and escape the characters \ * | _ elsewhere."""
    parts = re.split(r"`+([^`]+)`+", line)
    parts[::2] = [re.sub(r"([\\*|_])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)


def setup(app):
    app.add_directive("room", Room)
    app.connect("autodoc-process-docstring", plain_docstrings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The reference is made of docstrings: they are plain text, and Sphinx is told what that means."""

import re


def plain_docstrings(app, what, name, obj, options, lines):
    """Docstrings are plain text with `code` and | tables |: say so to Sphinx."""
    result, example, table = [], False, False
    for line in lines:
        text = line.strip()
        if re.fullmatch(r"\|[|: -]+\|", text):
            continue  # the rule below a table's head
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
    r"""Keep `code` as code and take their meaning from the signs \ * | _ elsewhere."""
    parts = re.split(r"`+([^`]+)`+", line)
    parts[::2] = [re.sub(r"([\\*|_])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)


def setup(app):
    app.connect("autodoc-process-docstring", plain_docstrings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Show a few rows as a table: HTML in notebooks and in the book, aligned text elsewhere."""

from collections.abc import Iterable, Sequence
from html import escape
from numbers import Real
from typing import Any


class Table(list):
    """Show rows under column names; floats are shown with `digits` decimals, None as a dash.

    `names` are the column names and `rows` the rows, as sequences of the same length; the table is a list of
    these rows.

    >>> Table(["T", "floor"], [(1, 1.0), (100, 10.0)], digits=2)
    T    floor
    1     1.00
    100  10.00
    """

    def __init__(self, names: Sequence[str], rows: Iterable[Sequence[Any]], digits: int = 4) -> None:
        super().__init__(tuple(row) for row in rows)
        self.names, self.digits = list(names), digits

    def _text(self, value: Any) -> str:
        """Format one cell."""
        if value is None:
            return "–"
        if isinstance(value, float):
            return f"{value + 0.0:.{self.digits}f}"
        return str(value)

    def __repr__(self) -> str:
        cells = [self.names, *([self._text(value) for value in row] for row in self)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        left = [isinstance(value, str) for value in self[0]] if self else [True] * len(widths)
        left[0] = True
        lines = []
        for row in cells:
            columns = zip(row, widths, left, strict=True)
            padded = (text.ljust(width) if flush else text.rjust(width) for text, width, flush in columns)
            lines.append("  ".join(padded).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def cell(value: Any) -> str:
            number = " class='num'" if value is None or isinstance(value, Real) else ""
            return f"<td{number}>{escape(self._text(value))}</td>"

        head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in self.names)
        body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in self)
        return f"<table class='table'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

"""A table shows every row, escapes what a name may hold, and rounds as told."""

from fractions import Fraction

from ocolab.tables import Table


def test_a_table_as_html_and_as_text():
    rows = [("one & two", 1.23456), ("none", None), ("half", Fraction(1, 2))]
    table = Table(["a < b", "x"], rows, digits=2)
    html = table._repr_html_()
    assert "a &lt; b" in html and "one &amp; two" in html
    assert "<td class='num'>1.23</td>" in html and "<td class='num'>1/2</td>" in html
    text = ["a < b         x", "one & two  1.23", "none          –", "half        1/2"]
    assert repr(table).splitlines() == text
    assert table[0] == ("one & two", 1.23456)


def test_no_minus_zero():
    assert "-0" not in repr(Table(["x"], [(-0.0,)]))

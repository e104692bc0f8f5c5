"""A checker tells a student what is wrong, to the word and to the last digit, and raises only if asked to."""

import json
import math
import re
import sys

import numpy as np
import pytest
from folded import for_each

from ocolib import exercises
from ocolib.exercises import (
    Verdict,
    WrongAnswer,
    asking,
    cases,
    check_argmin,
    check_bound,
    check_construction,
    check_formula,
    check_learner,
    check_projection,
    check_subgradient,
    check_value,
    inputs,
    same,
    show,
)
from ocolib.learners import FTL, OGD, inverse_sqrt
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Simplex, Space

R, BALL = SquaredNorm(), Ball(2)


def objective(w, c):
    return c @ w + R.value(w) / 0.5


CHECKS = {
    "projection": lambda f, **kw: check_projection(f, Ball(2), **kw),
    "argmin": lambda f, **kw: check_argmin(f, objective, lambda c: R.minimize(c, 0.5, BALL), BALL, **kw),
    "subgradient": lambda f, **kw: check_subgradient(f, lambda w: np.abs(w).sum(), 2, **kw),
    "learner": lambda f, **kw: check_learner(f, OGD(BALL, 0.3), **kw),
    "bound": lambda f, **kw: check_bound(f, [((4,), 2.0), ((16,), 3.9)], lambda T: np.sqrt(T), **kw),
    "value": lambda f, **kw: check_value(f, 2.5, **kw),
    "formula": lambda f, **kw: check_formula(f, lambda T, c: (1 + abs(c)) * T, [(1, 0), (4, -2)], **kw),
    "construction": lambda f, **kw: check_construction(
        f, (None, 2), {"Rows must be short.": lambda Z: np.linalg.norm(Z, axis=1) <= 1}, len, 3, **kw
    ),
}


RIGHT = {
    "projection": lambda y: y / max(1.0, np.linalg.norm(y)),
    "argmin": lambda c: BALL.project(-0.5 * c),
    "subgradient": lambda w: np.sign(w),
    "learner": lambda past: BALL.project(-0.3 * past.sum(axis=0)),
    "bound": lambda T: np.sqrt(T),
    "value": lambda: 2.5,
    "formula": lambda T, c: T + T * abs(c),
    "construction": lambda: np.zeros((3, 2)),
}
PRAISE = {
    "projection": "✓ nearest point of the set on all 62 inputs",
    "argmin": "✓ a minimiser on all 43 inputs",
    "subgradient": "✓ below the function at all 4929 pairs of points",
    "learner": "✓ the same play in all 60 rounds",
    "bound": "✓ holds in all 2 games, and it is the sharp one",
    "value": "✓ right",
    "formula": "✓ right in all 2 cases",
    "construction": "✓ legal, and it reaches 3",
}
WRONG = {
    "projection": lambda y: y / max(np.linalg.norm(y), 1e-9),
    "argmin": lambda c: BALL.project(0.5 * c),
    "subgradient": lambda w: -np.sign(w),
    "learner": lambda past: BALL.project(0.3 * past.sum(axis=0)),
    "bound": lambda T: 0.5 * np.sqrt(T),
    "value": lambda: 3.0,
    "formula": lambda T, c: (1 + c) * T,
    "construction": lambda: np.zeros((2, 2)),
}
FLAWS = {
    "a stub": (lambda *args: None, "not yet: your function returns None"),
    "a list of stubs": (lambda *args: [None, None], "not yet: your function returns None"),
    "an exception": (lambda *args: 1 / 0, "ZeroDivisionError"),
    "an exit": (lambda *args: sys.exit(), "SystemExit"),
    "nan": (lambda *args: np.nan, "not finite|shape"),
    "a vector of nan": (lambda *args: np.full(2, np.nan), "not finite|shape"),
    "a wrong shape": (lambda *args: np.zeros((2, 7)), r"shape \(2, 7\)"),
    "words": (lambda *args: "w", "not convert to floats"),
    "a ragged list": (lambda *args: [[1], [1, 2]], "not convert to floats"),
    "a dictionary": (lambda *args: {}, "not convert to floats"),
    "a complex number": (lambda *args: 1.0 + 2.0j, "not convert to floats"),
    "the wrong number of arguments": (lambda a, b, c: 1, "TypeError"),
}
every_check = pytest.mark.parametrize("name", CHECKS)


def verdict(capsys):
    return capsys.readouterr().out


@pytest.fixture
def heard(monkeypatch):
    """Every verdict since the last one was taken."""
    verdicts = []
    monkeypatch.setattr(exercises, "tell", verdicts.append)
    return verdicts


def passes(heard, check, *args, **kwargs):
    """Does the answer pass? The checker tells exactly one verdict."""
    check(*args, **kwargs)
    (verdict,) = heard
    heard.clear()
    return verdict.passed


@every_check
def test_a_right_answer_is_praised(name, capsys):
    CHECKS[name](RIGHT[name])
    assert verdict(capsys).strip() == PRAISE[name]
    CHECKS[name](RIGHT[name], strict=True)
    assert verdict(capsys).strip() == PRAISE[name]


@every_check
def test_a_wrong_answer_is_explained_and_not_raised(name, capsys):
    CHECKS[name](WRONG[name])
    out = verdict(capsys)
    assert out.startswith("✗ ")
    assert out.count("✗") + out.count("✓") == 1
    with pytest.raises(WrongAnswer) as caught:
        CHECKS[name](WRONG[name], strict=True)
    assert str(caught.value) == out.strip()
    assert verdict(capsys) == ""


@for_each("flaw", FLAWS)
@every_check
def test_whatever_a_student_returns_a_sentence_comes_back(name, flaw, capsys):
    function, words = FLAWS[flaw]
    CHECKS[name](function)
    out = verdict(capsys)
    assert out.startswith(("✗ ", "… ")), out
    assert any(w.replace("\\", "") in out for w in words.split("|")), out
    with pytest.raises(WrongAnswer):
        CHECKS[name](function, strict=True)


def test_a_projection_that_only_normalises_is_told_where_it_fails(capsys):
    check_projection(lambda y: y / np.linalg.norm(y) if y.any() else y, Ball(2, 2.0))
    assert verdict(capsys) == (
        "✗ Your point is in the set, but not the nearest: at distance 1.2361; 0.2361 is possible.\n"
        "  input:    y = [2., 1.]\n  you have: [0.8944, 0.4472]\n  expected: [1.7889, 0.8944]\n"
    )


def test_exact_words_for_simple_mistakes(capsys):
    check_projection(lambda y: y, Simplex(2))
    assert verdict(capsys).startswith("✗ Your point is not in Simplex(dim=2).\n  input:    y = [0., 0.]\n")
    check_value(lambda: 3.0, 2.5, {"Did you round?": 3.0})
    assert verdict(capsys) == "✗ Did you round?\n  you have: 3\n"
    check_value(lambda: 4.0, 2.5, {"Did you round?": 3.0})
    assert verdict(capsys) == "✗ Not this value: work it out again.\n  you have: 4\n"
    check_bound(lambda T: 1.0, [((4,), 2.0)])
    assert verdict(capsys) == (
        "✗ Not a bound: a game with these numbers was played, and it cost more.\n"
        "  input:    T = 4\n  you have: 1\n  expected: at least 2, what the game costs\n"
    )
    check_bound(lambda T: T, [((4,), 2.0)], np.sqrt)
    assert verdict(capsys) == (
        "✗ True, but loose.\n  input:    T = 4\n  you have: 4\n  expected: 2, which is proved\n"
    )
    check_learner(lambda past: np.ones(1), FTL(Box([-1], [1])))
    assert verdict(capsys) == (
        "✗ In round 1 the rule plays a different point.\n"
        "  input:    past = nothing yet, an array of shape (0, 1)\n  you have: [1.]\n  expected: [0.]\n"
    )
    check_subgradient(lambda w: np.array([2.0]), lambda w: abs(w[0]), 1)
    assert verdict(capsys) == (
        "✗ No subgradient: at u = [1.] the line f(w) + ⟨z, u − w⟩ is 2.0000, above f(u) = 1.0000.\n"
        "  input:    w = [0.]\n  you have: [2.]\n"
    )
    CHECKS["formula"](lambda T, c: (1 + c) * T)
    assert verdict(capsys) == (
        "✗ Not yet: for this input the answer is different.\n"
        "  input:    T = 4, c = -2\n  you have: -4\n  expected: 12\n"
    )
    CHECKS["construction"](lambda: [[2, 0]])
    assert verdict(capsys) == "✗ Rows must be short.\n  you have: [[2., 0.]]\n"


def test_shapes_whose_meaning_is_clear_are_accepted(capsys):
    for answer in (2.5, [2.5], [[2.5]], np.float32(2.5), (2.5,)):
        check_value(lambda answer=answer: answer, 2.5)
        assert verdict(capsys) == "✓ right\n"
    for answer in ([1, 2], (1, 2), [[1], [2]], np.array([[1, 2]])):
        check_value(lambda answer=answer: answer, [1, 2])
        assert verdict(capsys) == "✓ right\n"
    check_value(lambda: [[1, 2], [3, 4]], [1, 2, 3, 4])
    assert verdict(capsys).startswith("✗ Your answer has shape (2, 2); it should be shape (4,).")


def test_who_listens_hears_the_verdict(monkeypatch):
    heard = []
    monkeypatch.setattr(exercises, "tell", heard.append)
    CHECKS["formula"](lambda T, c: T)
    assert heard == [Verdict(False, heard[0].message, "T = 4, c = -2", "4", "12")]
    CHECKS["formula"](lambda T, c: None)
    assert heard[1].pending and not heard[1].passed


def test_a_subgradient_may_be_one_relative_to_a_set(capsys):
    """On [0, 1] the function 0 has the subgradient −1 at 0, and nowhere else."""
    check_subgradient(lambda w: np.where(w == 0, -1.0, 0.0), lambda w: 0.0, 1, over=Box([0], [1]))
    assert verdict(capsys).startswith("✓")
    check_subgradient(lambda w: np.where(w == 0, -1.0, 0.0), lambda w: 0.0, 1)
    assert verdict(capsys).startswith("✗")


def test_a_bound_without_a_best_one_need_only_hold(capsys):
    check_bound(lambda T: 100.0, [((4,), 2.0)])
    assert verdict(capsys) == "✓ holds in all 1 games\n"


def test_a_student_who_changes_the_input_in_place_does_no_harm(capsys):
    def greedy(y):
        y /= max(1.0, np.linalg.norm(y))
        return y

    check_projection(greedy, Ball(2))
    assert verdict(capsys).startswith("✓")


def test_a_checker_keeps_its_name_and_its_docstring():
    assert check_projection.__name__ == "check_projection"
    assert "nearest point" in check_projection.__doc__


def test_eager_descent_does_not_pass_for_lazy(capsys):
    """Only a game that leaves the set and comes back tells them apart."""

    def eager(past):
        w = np.array([10.5])
        for z in past:
            w = np.clip(w - 0.1 * z, 10, 11)
        return w

    check_learner(eager, OGD(Box([10], [11]), eta=0.1, start=[10.5]))
    assert capsys.readouterr().out.startswith("✗ In round")


def test_a_bound_below_what_is_proved_is_not_praised(capsys):
    """Easy games break nothing; the formula is still not the one that can be proved."""
    check_bound(lambda T: 1.5 * T, [((4,), 1.0)], best=lambda T: 2.0 * T)
    assert capsys.readouterr().out.startswith("✗ No game here breaks it")


# ---------------------------------------------------------------- what students do, kind by kind


def told(capsys, check, *args, **kwargs):
    check(*args, **kwargs)
    return verdict(capsys)


def test_a_branch_without_return_and_a_print_show_the_input(capsys):
    def half(T, c):
        if c >= 0:
            return (1 + c) * T

    def printer(T, c):
        print((1 + abs(c)) * T)

    out = told(capsys, CHECKS["formula"], half)
    assert "ends without a return" in out and "T = 4, c = -2" in out
    out = told(capsys, CHECKS["formula"], printer)
    assert "write return instead of print" in out and "T = 1, c = 0" in out and "you have: 1\n" in out


def test_a_stub_behind_a_helper_is_a_stub(capsys):
    names = {}
    exec("def my_part(x):\n    return None\n\ndef whole(x):\n    part = my_part(x)\n    return part", names)
    assert told(capsys, check_formula, names["whole"], lambda x: x, [(1,)]).startswith("… not yet")


def test_an_error_names_the_students_own_line_and_what_was_meant(capsys):
    def wrong(T, c):
        return T * np.sqrtt(c)

    out = told(capsys, CHECKS["formula"], wrong)
    assert "Did you mean sqrt?" in out and "return T * np.sqrtt(c)" in out and "line:" in out

    def other(price, c):
        return pirce  # noqa: F821

    assert "Did you mean price?" in told(capsys, CHECKS["formula"], other)


def test_numbers_that_look_alike_are_shown_with_the_digits_that_differ(capsys):
    out = told(capsys, check_projection, lambda y: 1.0000004 * y, Box([-9, -9], [9, 9]))
    got, expected = re.search(r"you have: (.+)\n  expected: (.+)\n", out).groups()
    assert got != expected


def test_transposed_and_flattened_arrays_are_named(capsys):
    table = np.arange(6.0).reshape(2, 3)
    assert "It is transposed" in told(capsys, check_value, lambda: table.T, table)
    assert "flattened" in told(capsys, check_value, lambda: table.ravel(), table)
    square = [(np.array([[1.0, 2.0], [3.0, 4.0]]) * k,) for k in (1, 2, 3)]
    assert "transpose" in told(capsys, check_formula, lambda x: x.T, lambda x: x, square)


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        (lambda x: -x, "sign"),
        (lambda x: 2 * x, "½ missing"),
        (lambda x: x / 2, "½ too many"),
        (lambda x: x**2, "root is missing"),
        (np.floor, "Do not round"),
        (lambda x: x + 1, "too large by 1"),
    ],
)
def test_slips_that_any_formula_may_have_are_recognised(slip, words, capsys):
    cases = [(x,) for x in (1.3, 2.6, 7.9, 0.4)]
    assert words in told(capsys, check_formula, slip, lambda x: x, cases)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda past: -0.3 * past.sum(axis=0), "leaves the set"),
        (lambda past: BALL.project(0.3 * past.sum(axis=0)), "sign"),
        (lambda past: BALL.project(-0.6 * past.sum(axis=0)), "twice as long"),
        (lambda past: BALL.project(-0.15 * past.sum(axis=0)), "half as long"),
        (lambda past: BALL.project(-0.3 * past[:-1].sum(axis=0)), "round before"),
    ],
)
def test_slips_that_any_learner_may_have_are_recognised(rule, words, capsys):
    assert words in told(capsys, CHECKS["learner"], rule)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda t: 1 / np.sqrt(t + 1), "step of the next round"),
        (lambda t: 2 / np.sqrt(t), "twice as long"),
        (lambda t: 0.5 / np.sqrt(t), "half as long"),
    ],
)
def test_a_schedule_that_is_off_is_recognised(step, words, capsys):
    def rule(past):
        w = np.zeros(2)
        for t, z in enumerate(past, start=1):
            w = BALL.project(w - step(t) * z)
        return w

    assert words in told(capsys, check_learner, rule, OGD(BALL, inverse_sqrt(1.0), "eager"))


def test_a_flattened_table_of_any_length_is_named(capsys):
    out = told(capsys, check_construction, lambda: np.ones(6), (None, 2), {})
    assert "It is flattened: keep its rows." in out
    assert "flattened" not in told(capsys, check_construction, lambda: np.ones(7), (None, 2), {})


def test_other_arguments_than_those_of_the_stub_are_named(capsys):
    out = told(capsys, check_formula, lambda T: T, lambda T, c: T, [(1, 2)])
    assert "It is called with 2 arguments, as in the stub." in out
    assert "1 argument, as" in told(capsys, check_formula, lambda a, b: 0, lambda T: T, [(1,)])
    out = told(capsys, check_formula, lambda T: T + "", lambda T: T, [(1,)])
    assert "TypeError" in out and "called with" not in out


def test_an_overflow_is_named(capsys):
    def factorial(n):
        kind = float if isinstance(n, float) else np.int32  # as in the browser
        return np.prod(np.arange(1, n + 1, dtype=kind), dtype=kind)

    out = told(capsys, check_formula, factorial, lambda n: float(math.factorial(int(n))), [(3,), (20,)])
    assert "overflow" in out and "n = 20" in out


def test_what_a_search_finds_counts_and_a_coarse_grid_does_not(capsys):
    cases = [(2.0,), (5.0,), (0.3,)]
    out = told(capsys, check_formula, lambda a: a * (1 + 3e-8), lambda a: a, cases)
    assert out.startswith("✓") and "to six digits" in out
    out = told(capsys, check_formula, lambda a: a * (1 + 3e-4), lambda a: a, cases)
    assert out.startswith("✗") and "search more finely" in out


def test_a_subgradient_that_is_wrong_at_one_point_is_found(capsys):
    kink = np.array([0.7, -1.3])

    def wrong_there(w):
        return np.array([2.0, 0.0]) if np.array_equal(w, kink) else np.sign(w - kink)

    def right(w):
        return np.sign(w - kink)

    def value(w):
        return np.abs(w - kink).sum()

    assert told(capsys, check_subgradient, right, value, 2, at=[kink]).startswith("✓")
    assert "No subgradient" in told(capsys, check_subgradient, wrong_there, value, 2, at=[kink])


def test_a_slope_that_is_a_little_too_steep_shows_close_by(capsys):
    """|w| has slope 1 at 1."""
    out = told(capsys, check_subgradient, lambda w: np.where(w == 1, 1.2, np.sign(w)), lambda w: abs(w[0]), 1)
    assert out.startswith("✗") and "w = [1.]" in out


# ---------------------------------------------------------------- what is shown


def test_a_verdict_shows_what_it_has():
    assert str(Verdict(False, "no", "a\nb", None, "c")) == (
        "✗ no\n  input:    a\n            b\n  expected: c"
    )
    assert str(Verdict(False, "not yet", pending=True)) == "… not yet"
    assert not Verdict(False, "no").pending
    with pytest.raises(AttributeError):
        Verdict(True, "yes").passed = False


def test_numbers_are_shown_with_six_digits_and_arrays_with_four():
    assert show(2 / 3) == "0.666667" and show([2 / 3, 1e-7]) == "[0.6667, 0.    ]"
    assert show([[2 / 3]]) == "[[0.6667]]"
    assert show("words") == "words" and show(None) == "None" and show({1: 2}) == "{1: 2}"
    assert show(object()) == "an object of type object"


@pytest.mark.parametrize(("length", "shown"), [(199, 199), (200, 200), (201, 200), (300, 200)])
def test_what_is_not_numeric_is_shown_up_to_200_letters(length, shown, heard):
    check_value(lambda: "x" * length, 1.0)
    assert heard[0].got == "x" * shown + " …" * (length > 200)


def test_inputs_are_named_where_the_function_has_names_for_them(heard):
    check_formula(lambda T, c: 0, lambda T, c: 1, [(4, 2)])
    check_formula(lambda *args: 0, lambda T, c: 1, [(4, 2)])
    check_formula(lambda T: 0, lambda T, c: 1, [(4, 2)])
    assert [verdict.input for verdict in heard] == ["T = 4, c = 2", "4, 2", "4, 2"]
    heard.clear()
    check_value(lambda: 0, 1.0)
    assert heard[0].input is None


def test_a_part_that_is_none_is_a_stub_and_a_list_is_not(heard):
    check_value(lambda: [1.0, None], [1.0, 2.0])
    check_value(lambda: [1.0, 3.0], [1.0, 2.0])
    assert [verdict.pending for verdict in heard] == [True, False]


def test_one_entry_that_is_not_finite_is_enough(heard):
    check_value(lambda: [1.0, np.inf], [1.0, 2.0])
    assert heard[0].message == "Your answer is not finite." and heard[0].got == "[ 1., inf]"


# ---------------------------------------------------------------- what counts as equal


def test_equal_is_relative_to_the_largest_entry_that_is_expected():
    assert same(1.5, 1.0, 0.5) and not same(1.5001, 1.0, 0.5)  # the end counts
    assert same(6.0, 4.0, 0.5) and not same(6.1, 4.0, 0.5)  # half of 4
    assert same(0.25, 0.5, 0.5) and not same(0.2, 0.5, 0.5)  # half of ½: no floor of 1
    assert same(0.5, 0.0, 0.5) and not same(0.6, 0.0, 0.5)  # but for 0, where it is 1
    assert same([2.0, 4.0], [1.0, 4.0], 0.25) and not same([2.1, 4.0], [1.0, 4.0], 0.25)
    assert same(-1.0, -1.0) and not same(1.0, -1.0) and not same([1.0, 1.0], 1.0)
    assert same(1 + 9e-10, 1.0) and not same(1 + 2e-9, 1.0)
    assert same(np.inf, np.inf) and not same(3.0, np.inf) and not same(np.inf, -np.inf)
    assert same([np.inf, 2.0], [np.inf, 2.0]) and not same([np.inf, 2.1], [np.inf, 2.0])


@pytest.mark.parametrize(
    ("made", "shape", "fitted"),
    [
        ((2,), (1, 2), (1, 2)),
        ((1, 2), (2,), (2,)),
        ((2, 1, 3), (2, 3), (2, 3)),
        ((3,), (1, None), (1, 3)),
        ((1, 3), (3, 1), (3, 1)),
        ((5, 2), (None, 2), (5, 2)),
    ],
)
def test_axes_of_length_one_do_not_matter(made, shape, fitted, heard):
    shapes = []
    rules = {"never": lambda Z: shapes.append(Z.shape) or True}
    assert passes(heard, check_construction, lambda: np.zeros(made), shape, rules)
    assert shapes == [fitted]


@pytest.mark.parametrize(
    ("made", "shape", "words"),
    [
        ((2, 3), (None, 2), "shape (any, 2). It is transposed: rows and columns are exchanged."),
        ((3,), (2, 2), "shape (2, 2)."),
        ((2,), (), "a number."),
    ],
)
def test_other_axes_do(made, shape, words, heard):
    check_construction(lambda: np.zeros(made), shape, {})
    assert heard[0].message == f"Your answer has shape {made}; it should be {words}"


# ---------------------------------------------------------------- slips


@pytest.mark.parametrize(("agree", "named"), [(5, True), (4, True), (3, False)])
def test_a_slip_must_explain_four_answers_of_five(agree, named, heard):
    """The answers are 10, 11, 12, …; the slip gives the first of them, the truth is 0."""
    slips = {"A slip.": lambda T: 10 + T if agree > T else -1}
    check_formula(lambda T: 10 + T, lambda T: 0, [(T,) for T in range(5)], slips)
    assert heard[0].message == ("A slip." if named else "Not yet: for this input the answer is different.")


def test_a_slip_must_explain_the_answer_that_failed(heard):
    slips = {"A slip.": lambda T: T if T < 9 else 0}
    check_formula(lambda T: T, lambda T: T if T < 9 else 1, [(T,) for T in range(10)], slips)
    assert heard[0].message.startswith("Not yet") and heard[0].input == "T = 9"


def test_of_two_slips_the_one_that_explains_more_is_told(heard):
    slips = {"Nearly.": lambda T: 10 + T if T < 4 else -1, "Wholly.": lambda T: 10 + T}
    check_formula(lambda T: 10 + T, lambda T: 0, [(T,) for T in range(5)], slips)
    check_formula(lambda T: 10 + T, lambda T: 0, [(T,) for T in range(5)], dict(reversed(slips.items())))
    assert [verdict.message for verdict in heard] == ["Wholly.", "Wholly."]


def test_where_an_answer_or_a_slip_raises_they_do_not_agree(heard):
    """The answer has no value at T = 1, …, 5; of the one that is left the slip explains all."""

    def answer(T):
        return 10 / (T == 0)

    cases = [(T,) for T in range(6)]
    check_formula(answer, lambda T: 0, cases, {"A slip.": answer})
    check_formula(answer, lambda T: 0, cases, {"A slip.": lambda T: 10})
    check_formula(answer, lambda T: 0, cases, {"A slip.": lambda T: 1 / 0})
    said = [verdict.message for verdict in heard]
    assert said == ["A slip.", "A slip.", "Not yet: for this input the answer is different."]


def test_a_slip_agrees_up_to_one_part_in_a_million(heard):
    for off, words in ((9e-7, "A slip."), (2e-6, "Not yet")):
        check_formula(lambda T, off=off: 10 * (1 + off), lambda T: 0, [(1,)], {"A slip.": lambda T: 10})
        assert heard.pop().message.startswith(words)


def test_an_answer_and_a_slip_may_change_their_input(heard):
    """Each gets a copy; else the slip would see an input that was changed, and the verdict too."""

    def tripled(y):
        y *= 3
        return y

    check_projection(tripled, Ball(2), slips={"You tripled it.": lambda y: 3 * y})
    assert heard[0].message == "You tripled it." and heard[0].input == "y = [1., 0.]"
    heard.clear()
    check_projection(lambda y: 3 * y, Ball(2), slips={"You tripled it.": tripled, "Or so.": tripled})
    assert heard[0].message == "You tripled it."


def test_slips_of_a_value_may_be_pairs(heard):
    for options in ({"slips": [(3.0, "Three?")]}, {"hints": [(3.0, "Three?")]}, {"slips": {"Three?": 3.0}}):
        check_value(lambda: 3.0, 2.5, **options)
        assert heard.pop().message == "Three?"


def test_slips_of_a_construction(heard):
    slips = {"You stood still.": lambda: np.zeros(2)}
    check_construction(lambda: np.zeros(2), (2,), {}, np.sum, 1.0, slips)
    check_construction(lambda: np.full(2, 0.1), (2,), {}, np.sum, 1.0, slips)
    assert [v.message for v in heard] == ["You stood still.", "Legal, but more is possible."]
    assert (heard[0].got, heard[0].expected) == ("0", "at least 1")


def test_every_part_must_keep_the_rules(heard):
    check_construction(lambda: [0.5, 2.0], (2,), {"Too long.": lambda x: x <= 1})
    assert heard[0].message == "Too long."


def test_without_a_measure_legal_is_enough_and_without_a_bar_nothing_is_too_little(heard):
    check_construction(lambda: [0.0], (1,), {})
    check_construction(lambda: [0.5], (1,), {}, np.sum)
    check_construction(lambda: [-0.5], (1,), {}, np.sum)
    assert [verdict.message for verdict in heard] == [
        "legal, as asked",
        "legal, and it reaches 0.5",
        "Legal, but more is possible.",
    ]


# ---------------------------------------------------------------- what is tried


def asked(monkeypatch, check, *args, **kwargs):
    """All that a checker asks a right answer for."""
    seen, ask = [], exercises.ask

    def note(function, given, shape):
        seen.append(given[0])
        return ask(function, given, shape)

    with monkeypatch.context() as patch:
        patch.setattr(exercises, "ask", note)
        check(*args, strict=True, **kwargs)
    return seen


def rows(array):
    return [tuple(np.atleast_1d(x)) for x in array]


def test_inputs_are_small_whole_vectors_and_then_short_and_long_ones():
    """A normal vector of dimension n has length about √n."""
    n = 1000
    found = list(inputs(n, 0, many=3))
    lengths = [np.linalg.norm(x) / np.sqrt(n) for x in found[-3:]]
    np.testing.assert_allclose(lengths, [0.1, np.sqrt(0.1 * 3), 3], rtol=0.1)
    whole = np.array(found[-13:-3])
    assert set(np.unique(whole)) == {-2, -1, 0, 1, 2}


def test_how_many_inputs_there_are():
    assert len(list(inputs(3, 0))) == 1 + 3 + 10 + 30
    np.testing.assert_array_equal(list(inputs(3, 0))[:4], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_by_default_a_checker_tries_these_inputs(monkeypatch):
    usual, space = rows(inputs(2, 0, 3.0)), Space(2)
    assert rows(asked(monkeypatch, check_projection, lambda y: y, space)) == usual
    square = lambda w, c: (w - c) @ (w - c)  # noqa: E731
    assert rows(asked(monkeypatch, check_argmin, lambda c: c, square, lambda c: c, space)) == usual
    found = asked(monkeypatch, check_subgradient, lambda w: 2 * w, lambda w: w @ w, 2)
    assert rows(found)[: len(usual)] == usual
    assert {(1.0, 1.0), (-1.0, -1.0), (-1.0, 0.0)} <= set(rows(found)[len(usual) :])


def test_a_projection_is_tried_on_the_boundary_too(monkeypatch):
    found = asked(monkeypatch, check_projection, Ball(2).project, Ball(2))
    usual = list(inputs(2, 0, 3.0))
    outside = [y / np.linalg.norm(y) for y in usual if y @ y > 1]
    assert len(found) == len(usual) + len(outside)
    np.testing.assert_allclose(found[len(usual) :], outside, atol=1e-12)


def test_a_learner_is_tried_in_five_games_of_twelve_rounds(monkeypatch, heard):
    """Whole losses; there and back; the same ten times as far; normal ones; short ones."""
    pasts = asked(monkeypatch, check_learner, lambda past: -0.1 * past.sum(0), OGD(Space(3), 0.1))
    assert [len(past) for past in pasts] == 5 * list(range(12))
    whole, back, far, normal, short = (pasts[k] for k in (11, 23, 35, 47, 59))
    assert set(np.unique(whole)) == {-1, 0, 1}
    np.testing.assert_array_equal(back, np.repeat([-1, 1], [6, 5])[:, None] * np.ones(3))
    np.testing.assert_array_equal(far, 10 * back)
    rng = np.random.default_rng(0)
    drawn = rng.integers(-1, 2, (12, 3)), rng.standard_normal((12, 3)), rng.standard_normal((12, 3))
    np.testing.assert_array_equal(whole, drawn[0][:11])
    np.testing.assert_array_equal(normal, drawn[1][:11])
    np.testing.assert_allclose(20 * short, drawn[2][:11], rtol=1e-12)


def test_who_grades_tries_other_inputs(monkeypatch):
    six, learner = rows(inputs(2, 6)), OGD(Space(1), 0.1)
    rule = lambda past: -0.1 * past.sum(0)  # noqa: E731
    game = asked(monkeypatch, check_learner, rule, learner, seed=6)
    monkeypatch.setattr(exercises, "fresh", 5)
    assert rows(inputs(2, 1)) == six
    found = asked(monkeypatch, check_learner, rule, learner, seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(game, found, strict=True))


def test_who_grades_tries_other_numbers_near_those_of_the_page(monkeypatch, heard):
    """Floats by up to a tenth, whole numbers up to two more; neither words nor truth values."""
    seen = []

    def truth(x, T, word, yes):
        seen.append((x, T, word, yes))
        return 1.0

    for fresh in range(1, 300):
        monkeypatch.setattr(exercises, "fresh", fresh)
        check_formula(lambda *args: 1.0, truth, [(2.0, 7, "w", True)])
    assert {verdict.message for verdict in heard} == {"right in all 2 cases"}
    others = [case for case in seen if case[0] != 2.0]
    floats, whole = [case[0] for case in others], {case[1] for case in others}
    assert 1.8 <= min(floats) < 1.81 and 2.19 < max(floats) <= 2.2
    assert whole == {7, 8, 9} and {case[2:] for case in others} == {("w", True)}


def test_other_numbers_where_the_truth_has_no_value_are_not_asked(monkeypatch, heard):
    monkeypatch.setattr(exercises, "fresh", 3)
    check_formula(lambda x: [1.0, 1.0], lambda x: [1.0, 1.0 if x == 2.0 else np.inf], [(2.0,)])
    check_formula(lambda x: 1.0, lambda x: 1.0 if x == 2.0 else {}[x], [(2.0,)])
    check_formula(lambda x: 1.0, lambda x: 1.0, [(2.0,)])
    said = [verdict.message for verdict in heard]
    assert said == ["right in all 1 cases", "right in all 1 cases", "right in all 2 cases"]


# ---------------------------------------------------------------- every tolerance from both sides


def test_how_near_a_projection_must_come(heard):
    """1e-7, times the length of the nearest point if that is above 1."""
    wide, small = Ball(1, 100.0), Ball(1, 0.01)

    def shrunk(part):
        return passes(heard, check_projection, lambda y: wide.project(y) * (1 - part), wide, scale=500.0)

    def moved(by):
        return passes(heard, check_projection, lambda y: small.project(y) - by * np.sign(y), small)

    assert shrunk(0.9e-7) and not shrunk(1.2e-7)
    assert moved(0.9e-7) and not moved(1.2e-7)


def test_how_far_outside_a_point_may_lie(heard):
    unit = Ball(1)
    assert passes(heard, check_projection, lambda y: (1 + 9e-8) * unit.project(y), unit)
    check_projection(lambda y: (1 + 2e-7) * unit.project(y), unit)
    assert heard.pop().message == f"Your point is not in {unit!r}."
    flat = (lambda w, c: 0.0, lambda c: np.zeros(1), unit)
    assert passes(heard, check_argmin, lambda c: np.array([1 + 9e-8]), *flat)
    check_argmin(lambda c: np.array([1 + 2e-7]), *flat)
    assert heard[0].message == f"Your w is not in {unit!r}."


@pytest.mark.parametrize(("least", "close"), [(1000.0, 1e-6), (-1000.0, 1e-6), (0.01, 1e-9), (0.0, 1e-9)])
def test_how_near_a_minimum_must_come(least, close, heard):
    """1e-9, times the size of the minimum if above 1. The objective is |w| + least, the answer some w > 0."""

    def ask(off):
        return passes(
            heard, check_argmin, lambda c: [off], lambda w, c: abs(w[0]) + least, np.zeros_like, Space(1)
        )

    assert ask(0.9 * close) and not ask(1.2 * close)


@pytest.mark.parametrize(("height", "close"), [(1000.0, 1e-5), (-1000.0, 1e-5), (0.01, 1e-8), (0.0, 1e-8)])
def test_how_far_above_the_function_a_line_may_be(height, close, heard):
    """1e-8, times the size of the value there if above 1. The function is constant, but for a dent at 0."""

    def ask(dent):
        value = lambda w: height - dent * (w[0] == 0)  # noqa: E731
        return passes(heard, check_subgradient, np.zeros_like, value, 1)

    assert ask(0.9 * close) and not ask(1.2 * close)


def test_a_line_in_two_dimensions_by_hand(heard):
    """⟨w, w⟩ has the gradient 2w; 2.5 w and −2w are refused."""
    assert passes(heard, check_subgradient, lambda w: 2 * w, lambda w: w @ w, 2)
    assert not passes(heard, check_subgradient, lambda w: 2.5 * w, lambda w: w @ w, 2)
    assert not passes(heard, check_subgradient, lambda w: -2 * w, lambda w: w @ w, 2)


@pytest.mark.parametrize(("asked_for", "close"), [(1000.0, 1e-6), (-1000.0, 1e-6), (0.01, 1e-9), (0.0, 1e-9)])
def test_how_near_a_construction_and_a_bound_must_come(asked_for, close, heard):
    """1e-9, times the size of what is asked for if that is above 1."""

    def construction(made):
        return passes(heard, check_construction, lambda: made, (), {}, float, asked_for)

    def bound(promised):
        return passes(heard, check_bound, lambda T: promised, [((1,), asked_for)])

    for check in (construction, bound):
        assert check(asked_for) and check(asked_for - 0.9 * close) and not check(asked_for - 1.2 * close)


def test_a_value_is_equal_up_to_a_billionth_and_a_formula_up_to_what_a_search_finds(heard):
    def formula(got, **options):
        return passes(heard, check_formula, lambda T: got, lambda T: 1.0, [(1,)], **options)

    def value(got, **options):
        return passes(heard, check_value, lambda: got, 1.0, **options)

    def bound(got, **options):
        return passes(heard, check_bound, lambda T: got, [((1,), 0.0)], lambda T: 1.0, **options)

    assert value(1 + 9e-10) and not value(1 + 2e-9)
    for check in (formula, bound):  # what a search finds counts
        assert check(1 + 9e-7) and not check(1 + 2e-6)
    for check in (formula, value, bound):
        assert check(1.4, close=0.5) and not check(1.6, close=0.5)


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_how_near_a_play_must_come(scale, heard):
    """1e-8, and 1e-8 of what is played."""
    learner = OGD(Box([-2 * scale], [2 * scale]), eta=1e-9, start=[scale])

    def ask(off):
        return passes(heard, check_learner, lambda past: scale - 1e-9 * past.sum(0) + off, learner)

    close = 1e-8 * (1 + scale)
    assert ask(0.9 * close) and not ask(1.2 * close)


def test_a_bound_is_compared_with_the_game_that_it_is_for(heard):
    games = [((1,), 5.0), ((2,), 1.0), ((3,), 3.0)]
    check_bound(lambda T: [5.0, 1.0, 2.0][T - 1], games)
    assert (heard[0].input, heard[0].got) == ("T = 3", "2")
    heard.clear()
    assert passes(heard, check_bound, lambda T: [5.0, 1.0, 3.0][T - 1], games)
    check_bound(lambda T: 5.0 - T, games[:2])
    assert (heard[0].input, heard[0].got) == ("T = 1", "4")


def test_a_whole_number_beyond_the_floats_is_not_numeric(heard):
    check_value(lambda: 10**400, 1.0)
    (verdict,) = heard
    assert not verdict.passed and "not convert to floats" in verdict.message


# ---------------------------------------------------------------- recorded cases


def test_recorded_cases_judge_like_their_author(tmp_path, monkeypatch, capsys):
    for name, check in CHECKS.items():
        monkeypatch.setattr(exercises, "record", noted := [])
        check(RIGHT[name])
        monkeypatch.setattr(exercises, "record", None)
        (tmp_path / f"ex-{name}.json").write_text(cases.written(f"ex-{name}", noted), "utf8")
    monkeypatch.setattr(cases, "FOLDER", tmp_path)
    cases.recorded.cache_clear()
    properties = {
        "argmin": {"objective": objective, "over": BALL},
        "construction": {
            "rules": {"Rows must be short.": lambda Z: np.linalg.norm(Z, axis=1) <= 1},
            "reaches": len,
        },
    }
    verdict(capsys)
    for name, check in CHECKS.items():
        for answer in (RIGHT[name], WRONG[name], lambda *args: None):
            check(answer)
            mine = verdict(capsys)
            exercises.check(f"ex-{name}", answer, **properties.get(name, {}))
            assert verdict(capsys) == mine
    with pytest.raises(ValueError, match="did you mean 'ex-value'"):
        exercises.check("ex-valu", RIGHT["value"])
    cases.recorded.cache_clear()


@pytest.mark.parametrize("value", [2.5, -1e-7, 0.0, [1.0, -3e5], [[np.inf, 2.0]]])
def test_a_fingerprint_recognises_a_number_up_to_its_tolerance(value):
    value = np.asarray(value)
    mark = cases.Fingerprint.of(value, 1e-6, "salt")
    size = np.abs(value[np.isfinite(value)]).max(initial=0.0) or 1.0
    assert mark.fits(value) and mark.fits(value + 0.5e-6 * size) and not mark.fits(value + 2e-6 * size)
    assert not mark.fits(np.zeros(7))
    assert cases.unpack(json.loads(json.dumps(cases.pack(mark)))) == mark


def test_what_no_case_can_hold_is_refused():
    with pytest.raises(ValueError, match="name a function by a word"):
        cases.pack([len])


def test_the_judge_who_cannot_see_the_code_names_the_input_of_a_missing_answer(capsys):
    def proxy(T, c):
        return None

    proxy.asked_elsewhere = True
    out = told(capsys, CHECKS["formula"], proxy)
    assert out.startswith("… not yet") and "T = 1, c = 0" in out


@pytest.mark.parametrize("wanted", [2.5, [1.0, -3.0]])
@pytest.mark.parametrize(
    "factor, said", [(-1.0, "The sign is wrong."), (2.0, "It is twice"), (0.5, "It is half of")]
)
def test_a_wrong_sign_and_a_wrong_half_are_told_apart(wanted, factor, said, capsys):
    check_value(lambda: factor * np.array(wanted), wanted)
    assert verdict(capsys).startswith(f"✗ {said}")


def test_what_is_wrong_in_another_way_gets_no_such_hint(capsys):
    for answer, wanted in ((0.0, 2.5), (-2.6, 2.5), ([1.0, 3.0], [1.0, -3.0])):
        check_value(lambda answer=answer: np.array(answer), wanted)
        assert verdict(capsys).startswith("✗ Not this")


def test_the_number_of_bits_is_named(capsys):
    def factorial(n):
        kind = float if isinstance(n, float) else np.int32
        return np.prod(np.arange(1, n + 1, dtype=kind), dtype=kind)

    out = told(capsys, check_formula, factorial, lambda n: float(math.factorial(int(n))), [(3,), (20,)])
    assert f"Whole numbers have {np.iinfo(int).bits} bits here" in out


def test_a_case_outside_the_domain_hides_no_other(monkeypatch, heard):
    monkeypatch.setattr(exercises, "fresh", 3)
    check_formula(lambda x: 1.0, lambda x: 1.0 if x < 5 or x == 9.0 else {}[x], [(9.0,), (2.0,), (3.0,)])
    assert heard[-1].message == "right in all 5 cases", "three of the page, two near them"


def test_cases_hold_single_numbers_and_slips_without_a_value():
    assert cases.pack([np.float64(2.5), np.int64(3), np.bool_(True), None]) == [2.5, 3, True, None]
    made = cases.Cases("value", [[1.0]], [2.0], [("a slip", [None])], {"close": 1e-6}).hidden("name")
    assert made.slips == [("a slip", [None])] and made.expected[0].fits(np.array(2.0))


def test_errors_that_are_about_no_name_get_no_suggestion():
    assert asking.meant(ValueError("x")) == "" and asking.meant(ImportError("x", name="numpyy")) == ""


def test_a_function_asked_elsewhere_brings_its_own_line():
    def away():
        pass

    away.asked_elsewhere = True
    error = ValueError("x")
    assert asking.own_line(away, error) is None
    error.own_line = "3: return 1"
    assert asking.own_line(away, error) == "3: return 1"
    assert asking._accepts(dict, [1, 2, 3]), "a signature that is unknown"


def test_a_truth_in_whole_numbers_is_as_good_as_floats(heard):
    assert same([1, 2], [True, 2]) and same(2**70, 2.0**70)
    check_formula(lambda n: 2.0**n, lambda n: 2**n, [(3,), (70,)])
    assert heard[-1].message == "right in all 2 cases"


def test_slips_are_stored_with_nine_digits():
    made = cases.Cases("formula", [[1.0]], [2.0], [("a slip", [np.array([1 / 3, 2e9 / 3]), None])], {})
    (stored,) = json.loads(cases.written("name", [made]))
    text, values = cases.unpack(stored)["slips"][0]
    assert text == "a slip" and values[0].tolist() == [0.333333333, 666666667.0] and values[1] is None


def test_a_fingerprint_of_what_is_not_finite():
    mark = cases.Fingerprint.of(np.array([np.inf, np.inf]), 1e-6, "salt")
    assert mark.fits(np.array([np.inf, np.inf])) and not mark.fits(np.array([np.inf, 1.0]))

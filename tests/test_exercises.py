"""A checker tells a student what is wrong, and never raises unless it is asked to."""

import json
import math
import re
import sys

import numpy as np
import pytest

from ocolib import exercises
from ocolib.exercises import (
    WrongAnswer,
    cases,
    check_argmin,
    check_bound,
    check_construction,
    check_formula,
    check_learner,
    check_projection,
    check_subgradient,
    check_value,
)
from ocolib.learners import FTL, OGD, inverse_sqrt
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Simplex

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


@pytest.mark.parametrize("flaw", FLAWS)
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
    assert verdict(capsys) == "✗ Not this: work it out once more.\n  you have: 4\n"
    check_bound(lambda T: 1.0, [((4,), 2.0)])
    assert verdict(capsys) == (
        "✗ Broken: a game with these numbers was played, and costs more.\n"
        "  input:    T = 4\n  you have: 1\n  expected: at least 2, what the game costs\n"
    )
    check_bound(lambda T: T, [((4,), 2.0)], np.sqrt)
    assert verdict(capsys) == (
        "✗ True, but loose.\n  input:    T = 4\n  you have: 4\n  expected: 2, which is proved\n"
    )
    check_learner(lambda past: np.ones(1), FTL(Box([-1], [1])))
    assert verdict(capsys) == (
        "✗ In round 1 the rule plays another point.\n"
        "  input:    past = nothing yet, an array of shape (0, 1)\n  you have: [1.]\n  expected: [0.]\n"
    )
    check_subgradient(lambda w: np.array([2.0]), lambda w: abs(w[0]), 1)
    assert verdict(capsys) == (
        "✗ No subgradient: at u = [1.] the line f(w) + ⟨z, u − w⟩ is 2.0000, above f(u) = 1.0000.\n"
        "  input:    w = [0.]\n  you have: [2.]\n"
    )
    CHECKS["formula"](lambda T, c: (1 + c) * T)
    assert verdict(capsys) == (
        "✗ Not yet: here the answer is another one.\n"
        "  input:    T = 4, c = -2\n  you have: -4\n  expected: 12\n"
    )
    CHECKS["construction"](lambda: [[2, 0]])
    assert verdict(capsys) == "✗ Rows must be short.\n  you have: [[2., 0.]]\n"


def test_a_slip_is_named_where_it_explains_nearly_all_answers(capsys):
    slips = {"Is it T squared?": lambda T: T**2, "Twice, not four times.": lambda T: 4 * T}
    cases = [(T,) for T in (0, 1, 4, 5, 6)]
    check_formula(lambda T: 4 * T, lambda T: 2 * T, cases, slips)
    assert verdict(capsys).startswith("✗ Twice, not four times.\n  input:    T = 1\n")
    check_formula(lambda T: T * T, lambda T: T if T < 2 else 2 * T, cases, slips)
    assert verdict(capsys).startswith("✗ Is it T squared?\n  input:    T = 4\n")  # there both slips agree
    check_formula(lambda T: 16 if T == 4 else T, lambda T: T, cases, slips)
    assert verdict(capsys).startswith("✗ Not yet")  # neither, but for one case
    check_formula(lambda T: 5 * T, lambda T: T, cases, {"A slip that breaks": lambda T: 1 / 0})
    assert verdict(capsys).startswith("✗ Not yet")


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
    assert heard == [exercises.Verdict(False, heard[0].message, "T = 4, c = -2", "4", "12")]
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


def test_values_may_be_arrays(capsys):
    check_value(lambda: [1.0, 2.0], [1.0, 2.0 + 1e-9])
    assert verdict(capsys) == "✓ right\n"
    check_value(lambda: [1.0], [1.0, 2.0])
    assert verdict(capsys).startswith("✗ Your answer has shape (1,); it should be shape (2,).")
    check_value(lambda: 1.001, 1.0)
    assert verdict(capsys).startswith("✗")


def test_a_student_who_changes_the_input_in_place_does_no_harm(capsys):
    def greedy(y):
        y /= max(1.0, np.linalg.norm(y))
        return y

    check_projection(greedy, Ball(2))
    assert verdict(capsys).startswith("✓")


def test_small_inputs_come_first():
    first = list(exercises.inputs(2, 0))[:4]
    np.testing.assert_array_equal(first[:3], [[0, 0], [1, 0], [0, 1]])
    np.testing.assert_array_equal(first[3], np.round(first[3]))


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


def test_a_value_may_be_asked_of_a_function_that_raises(capsys):
    check_value(lambda: 1 / 0, 2.0)
    assert "raised ZeroDivisionError" in capsys.readouterr().out


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
    assert "comes to its end without a return" in out and "T = 4, c = -2" in out
    out = told(capsys, CHECKS["formula"], printer)
    assert "write return in place of print" in out and "T = 1, c = 0" in out and "you have: 1\n" in out


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
        (lambda x: x + 1, "1 more"),
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
    assert out.startswith("✗") and "search finer" in out


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

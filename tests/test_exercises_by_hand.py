"""The checkers of exercises by hand: every word that a reader sees, every tolerance from both sides."""

import numpy as np
import pytest

from ocolib import exercises
from ocolib.exercises import (
    Verdict,
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
from ocolib.learners import OGD
from ocolib.sets import Ball, Box, Space


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
    assert heard[0].message == ("A slip." if named else "Not yet: here the answer is another one.")


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
    assert said == ["A slip.", "A slip.", "Not yet: here the answer is another one."]


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
        "legal, and as it was asked for",
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

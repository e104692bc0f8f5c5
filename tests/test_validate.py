"""Where each check begins to refuse: the last value that passes, and the next one."""

import re

import numpy as np
import pytest

from ocolib import validate

LARGE, SMALL = 1e150, 1e-150
OVER, UNDER = np.nextafter(1e150, np.inf), np.nextafter(1e-150, 0.0)


def refused(words, check, *arguments, **options):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        check("x", *arguments, **options)


def test_a_number_has_ends():
    assert validate.number("x", 2, low=2, high=3) == 2.0 and validate.number("x", 3, 2, 3) == 3.0
    assert validate.number("x", -1e300) == -1e300 and type(validate.number("x", np.int64(3))) is float
    refused("x must be finite and in [2, 3], got 1.9", validate.number, 1.9, 2, 3)
    refused("x must be finite and in [2, 3], got 3.1", validate.number, 3.1, 2, 3)
    refused("x must be finite and in (2, 3], got 2", validate.number, 2, 2, 3, strict=True)
    assert validate.number("x", 3, 2, 3, strict=True) == 3.0
    refused("x must be finite and in (-inf, inf), got nan", validate.number, np.nan)
    refused("x must be finite and in (-inf, inf), got inf", validate.number, np.inf)
    refused("x must be finite and in [0, inf), got -1", validate.number, -1, low=0)
    refused("x must be a number, got '2'", validate.number, "2")
    refused("x must be a number, got 'two'", validate.number, "two")
    refused("x must be a number, got None", validate.number, None)


def test_positive_excludes_0_and_a_probability_does_not():
    assert validate.positive("x", 5e-324) > 0
    refused("x must be finite and in (0, inf), got 0", validate.positive, 0)
    assert validate.probability("x", 0) == 0.0 and validate.probability("x", 1) == 1.0
    refused("x must be finite and in [0, 1], got 1.0001", validate.probability, 1.0001)
    refused("x must be finite and in [0, 1], got -0.0001", validate.probability, -0.0001)


def test_sizes_end_where_squares_would_leave_the_floats():
    for check in (validate.size, validate.sizes):
        assert check("x", LARGE) == LARGE and check("x", SMALL) == SMALL
        for value in (OVER, UNDER, 0.0, -1.0, np.nan, np.inf):
            refused("x must be finite and", check, value)
    assert validate.sizes("x", [[1, 2], [3, 4]]).shape == (2, 2)
    refused("x must be finite and > 0, from 1e-150 to 1e+150, got [1.0, 0.0]", validate.sizes, [1.0, 0.0])
    refused("x must be finite and > 0", validate.sizes, [2 * LARGE, 1.0])
    refused("x must be finite and > 0, from 1e-150 to 1e+150, got small", validate.sizes, "small")


def test_a_count_is_a_whole_number():
    assert validate.count("x", 1) == 1 and validate.count("x", np.int32(7), low=7) == 7
    assert validate.count("x", 0, low=0) == 0 and type(validate.count("x", np.int64(2))) is int
    for value in (0, 1.0, True, "1", None, -3):
        refused(f"x must be an integer ≥ 1, got {value!r}", validate.count, value)
    refused("x must be an integer ≥ 3, got 2", validate.count, 2, low=3)


def test_an_array_has_the_shape_that_is_asked_for():
    assert validate.array("x", [[1, 2, 3]]).dtype == float
    assert validate.array("x", [[1, 2, 3]], dim=3, ndim=2).shape == (1, 3)
    refused("x must have at least one axis, got shape ()", validate.array, 1.0)
    refused("x must have 1 axes, got shape (1, 2)", validate.array, [[1, 2]], ndim=1)
    refused("x must have 2 axes, got shape (2,)", validate.array, [1, 2], ndim=2)
    refused("x must not be empty, got shape (2, 0)", validate.array, [[], []])
    refused(
        "x must have 2 entries on its last axis, got shape (2, 3)", validate.array, np.ones((2, 3)), dim=2
    )
    refused("x must be an array of numbers, got ['a']", validate.array, ["a"])
    assert np.array_equal(validate.array("x", [LARGE, -LARGE, 0.0, 1e-320]), [LARGE, -LARGE, 0.0, 1e-320])
    for value in (OVER, -OVER, np.nan, np.inf):
        said = f"x must be finite, its entries of size at most 1e+150, got {value}"
        refused(said, validate.array, [1.0, value])


def test_what_is_frozen_is_a_copy_unless_nobody_could_change_it():
    mine = np.array([1.0, 2.0])
    for check in (validate.frozen, validate.vector):
        kept = check("x", mine)
        assert kept is not mine and not kept.flags.writeable and mine.flags.writeable
        assert check("x", kept) is kept
    refused("x must have 1 axes", validate.vector, [[1.0]])
    refused("x must have 3 entries", validate.vector, mine, 3)
    refused("x must have 3 entries", validate.frozen, mine, 3)
    refused("x must have 2 axes", validate.frozen, mine, ndim=2)


def test_labels_are_what_the_loss_takes():
    assert list(validate.labels("x", [-1, 1], 2)) == [-1, 1]
    refused("x must have 3 entries, one an example, got 2", validate.labels, [-1, 1], 3)
    refused("x must be −1 or +1, got 0.5", validate.labels, [1, 0.5, -1], 3)
    refused("x must be −1 or +1, got 0", validate.labels, [0, 1], 2)
    assert list(validate.labels("x", [0, 0.5, 3], 3, "counts")) == [0, 0.5, 3]
    refused("x must be ≥ 0, got -2", validate.labels, [0, -2, 3], 3, "counts")
    assert list(validate.labels("x", [0, -2.5], 2, "reals")) == [0, -2.5]


def test_a_choice_is_one_of_the_words():
    assert validate.choice("x", "lazy", ("lazy", "eager")) == "lazy"
    refused("x must be 'lazy' or 'eager', got 'busy'", validate.choice, "busy", ("lazy", "eager"))


def test_one_entry_that_is_not_finite_is_refused():
    for found in ([1.0, np.nan], [np.inf, 1.0]):
        made = validate.guarded(lambda x, found=found: np.array(found))
        with pytest.raises(
            ValueError, match=r"<lambda> must stay within the floats, got x = 2: .* is not finite"
        ):
            made(2)
    assert validate.guarded(lambda: np.array([1.0, 2.0]))().tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "check", [validate.number, validate.size, validate.sizes, validate.array, validate.vector]
)
def test_a_whole_number_beyond_the_floats_is_refused_by_name(check):
    with pytest.raises(ValueError, match=r"^huge must be"):
        check("huge", 10**400 if check in (validate.number, validate.size) else [10**400])

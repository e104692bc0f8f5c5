"""Checks of short and long arrays, and the slopes that bound a game, where the numbers are easy to see."""

import numpy as np
import pytest

from ocolib import losses, validate
from ocolib.data import sunspots
from ocolib.game import play
from ocolib.learners import FTRL, OGD, inverse_sqrt
from ocolib.regularizers import NegativeEntropy, UnnormalizedEntropy
from ocolib.sets import Orthant, Simplex, Space


@pytest.mark.parametrize("length", [3, 8191, 8192, 20000])
def test_the_largest_size_of_an_entry(length):
    x = np.linspace(-1.0, 2.0, length)
    assert validate.measured("x", x)[1] == 2.0 and validate.measured("x", -2 * x)[1] == 4.0
    assert validate.measured("x", x - 5.0)[1] == 6.0 and validate.measured("x", x + 5.0)[1] == 7.0
    for bad in (np.nan, np.inf, -np.inf, 1.1e150, -1.1e150):
        for place in (0, 1, -1):
            wrong = x.copy()
            wrong[place] = bad
            with pytest.raises(
                ValueError, match=r"x must be finite, its entries of size at most 1e\+150, got"
            ) as said:
                validate.measured("x", wrong)
            assert f"got {bad} in it" in str(said.value)


def test_the_border_itself_is_allowed():
    x = np.array([1e150, -1e150, 0.0])
    assert validate.measured("x", x)[1] == 1e150
    with pytest.raises(ValueError, match="got nan in it"):
        validate.measured("x", np.append(x, np.nan))


def test_one_negative_weight_is_enough():
    with pytest.raises(ValueError, match="w must be ≥ 0, got -2"):
        validate.weights("w", [1.0, -2.0, 3.0])
    assert validate.weights("w", [0.0, 1.0]).tolist() == [0.0, 1.0]


def test_the_steepest_slope_by_hand():
    """|φ'| times the largest |x_i| times √n: of least squares at these predictions, of Huber's 1."""
    X = np.array([[1.0, -3.0, 2.0, 0.0], [0.5, 1.0, 0.0, 0.0]])
    p, y = np.array([2.0, 5.0]), [1.0, 9.0]
    assert losses.least_squares(X, y).steepest(p) == pytest.approx(4.0 * 3.0 * 2.0)
    assert losses.huber(X, y).steepest(p) == pytest.approx(1.0 * 3.0 * 2.0)
    assert losses.quantile(X, y, 0.25).steepest(p) == pytest.approx(0.75 * 3.0 * 2.0)


def test_entropies_of_large_sums():
    """exp(−1000) is the smaller weight; one coordinate beyond exp(345) is enough to refuse."""
    c = np.array([[3000.0, 2000.0], [-2000.0, -3000.0]])
    assert NegativeEntropy().minimize(c, 1.0, Simplex(2)).tolist() == [[0.0, 1.0], [0.0, 1.0]]
    with pytest.raises(ValueError, match="at most 345"):
        UnnormalizedEntropy().minimize([-346.0, 5.0], 1.0, Orthant(2))


def test_the_sunspots_begin_in_1700():
    years, numbers = sunspots()
    assert years[0] == 1700 and years[1] == 1701 and len(years) == len(numbers)


def test_also_the_play_after_the_last_round_is_checked():
    for eta in (1e60, inverse_sqrt(1e60)):
        with pytest.raises(ValueError, match=r"at most 1e\+150, got 1e\+160"):
            play(OGD(Space(1), eta, "eager"), losses.hinge([[1e100]], [1.0]), engine="numpy")


class Plain:
    """½‖w‖² of somebody who knows nothing of `out`."""

    def minimize(self, c, eta, over, curvature=0.0):
        return over.project(-np.asarray(eta)[..., None] * c)


def test_a_regulariser_of_the_reader_may_do_without_out():
    plays = FTRL(Space(2), Plain(), 0.5).points(np.array([[1.0, 0.0], [0.0, -4.0]]))
    assert plays.tolist() == [[0.0, 0.0], [-0.5, 0.0], [-0.5, 2.0]]

"""The moves of optimal players and adversaries, one at a time, against their definitions."""

from itertools import product

import numpy as np
import pytest

from ocolib import limits
from ocolib.game import play
from ocolib.learners import OGD
from ocolib.losses import Linear
from ocolib.sets import Ball, Hull, Simplex


def value(Z, left, R, rho):
    """R·E|Z + ρS|: the mean over all sequences of signs."""
    return R * np.mean([abs(Z + rho * sum(signs)) for signs in product((-1, 1), repeat=left)])


@pytest.mark.parametrize(("R", "rho"), [(2.0, 0.5), (0.7, 3.0)])
def test_the_coin_falls_where_it_hurts_most(R, rho):
    T = 4
    adversary = limits.coin(R, rho, T)
    for t, w in product(range(1, T + 1), np.linspace(-R, R, 9)):
        for signs in product((-1, 1), repeat=t - 1):
            past = rho * np.array(signs, dtype=float).reshape(-1, 1)
            worth = {z: z * w + value(past.sum() + z, T - t, R, rho) for z in (rho, -rho)}
            if abs(worth[rho] - worth[-rho]) > 1e-9:
                assert adversary(t, np.array([w]), past)[0] == max(worth, key=worth.get)
    assert adversary(1, np.zeros(1), np.zeros((0, 1)))[0] == rho, "of two equal losses the positive one"


def test_a_bowl_at_a_distance_changes_sides():
    adversary, w = limits.at_distance(3.0, 2.0), np.array([0.5, 4.0])
    for t, center in ((1, [-1.0, 4.0]), (2, [2.0, 4.0]), (3, [-1.0, 4.0])):
        loss = adversary(t, w, None)
        assert loss.center.tolist() == center and loss.curvature == 2.0
    assert w.tolist() == [0.5, 4.0]


def test_the_adversary_of_the_square_loss_goes_away_from_the_play():
    """α_3 = 1/3, α_2 = 4/9, α_1 = 52/81; a second game begins anew."""
    adversary = limits.away(3)
    for _ in range(2):
        first = adversary(1, np.zeros(2), None).center
        assert first.tolist() == [1.0, 0.0]
        second = adversary(2, np.array([0.0, 0.3]), None).center
        assert second == pytest.approx(np.array([4 / 9, -0.3]) / np.hypot(4 / 9, 0.3))
        third = adversary(3, np.array([0.1, 0.2]), None).center
        along = (first + second) / 3 - [0.1, 0.2]
        assert third == pytest.approx(along / np.hypot(*along))
    assert adversary(2, np.array([0.0, 0.3]), None).center == pytest.approx(second), (
        "a round may be asked again"
    )


def test_the_leader_is_dragged_to_and_fro():
    assert limits.leader_centers(2).tolist() == [[1.0], [-1.0]]
    assert limits.leader_centers(1).tolist() == [[1.0]]


def test_the_players_after_the_game_and_where_they_play():
    Z = np.array([3.0, -4.0])
    assert limits.BallMinimax(2, 2.0, 1.5, 6).move(6, Z) == pytest.approx([-1.2, 1.6])
    assert limits.BallMinimax(2, 2.0, 1.5, 6).move(2, Z) == pytest.approx(-2 * Z / np.sqrt(25 + 9))
    assert limits.BallMinimax(2, 2.0, 1.5, 6).move(6, 0 * Z).tolist() == [0.0, 0.0]
    assert limits.Cover(3).over == Simplex(2)
    game = limits.solve_experts(3, 4)
    assert game.move(4, np.array([1.0, 2.0, 4.0])) == pytest.approx([1 / 3] * 3)
    assert [len(gaps.where) - 1 for gaps in game.gaps] == [0, 1, 2, 1, 0], "who cannot come back is cut off"
    whole = limits.hedge_game(2, 4)
    assert [len(gaps.where) - 1 for gaps in whole.gaps] == [0, 1, 2, 3, 4]


def test_spiral_and_zigzag_turn_left_first():
    Z = limits.spiral(2.0, 1.5, 7, 0.4)
    sums = np.cumsum(Z, axis=0)
    turns = sums[:-1, 0] * Z[1:, 1] - sums[:-1, 1] * Z[1:, 0]
    assert (turns > 0).all()
    assert np.linalg.norm(sums, axis=1) == pytest.approx(np.linspace(1.5, 5.0, 7))
    Z, path = limits.zigzag(2.0, 1.5, 4)
    assert np.sign(Z[:, 1]).tolist() == [1.0, -1.0, 1.0, -1.0] and (Z[:, 0] > 0).all()
    assert path[1] == pytest.approx(-2.0 / (1.5 * np.sqrt(8)) * Z[0])


class Scripted:
    """Plays (1, 0, 0), (0, 2, 0), (0, 0, 3), …, whatever happens."""

    over, rows = Ball(3, 9.0), np.diag([1.0, 2.0, 3.0])

    def player(self):
        twin = Scripted()
        twin.t = 0
        return twin

    def predict(self):
        return self.rows[self.t % 3]

    def update(self, loss):
        self.t += 1


def test_a_block_is_aimed_at_the_sum_of_its_plays():
    adversary = limits.blocks(Scripted(), 1.5, 1)
    first = adversary(1, np.array([1.0, 0.0, 0.0]), np.zeros((0, 3)))
    assert first == pytest.approx(1.5 * np.array([1.0, 2.0, 0.0]) / np.sqrt(5))
    np.testing.assert_array_equal(adversary(2, np.zeros(3), np.array([first])), first)
    total, unit = np.array([1.0, 0.0, 3.0]), np.array([1.0, 2.0, 0.0]) / np.sqrt(5)  # rounds 3 and 4
    across = total - total @ unit * unit
    third = adversary(3, np.array([0.0, 0.0, 3.0]), np.array([first, first]))
    assert third == pytest.approx(1.5 * across / np.linalg.norm(across))


def test_a_piece_forgets_the_one_before():
    adversary, w = limits.restarts(1.5, 3, 6), np.array([0.6, -0.8])
    past = np.array([[1.5, 0.0], [0.0, 1.5], [1.5, 0.0]])
    assert adversary(3, w, past[:2]) == pytest.approx(1.5 * w), "round 3 opens a piece"
    assert adversary(4, w, past) == pytest.approx([0.0, -1.5]), "round 4 is across round 3 alone"


def test_the_best_points_of_the_pieces():
    trace = play(OGD(Ball(2), 0.1), np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    assert limits.best_pieces(trace, 2, Ball(2, 3.0)).tolist() == [[-3, 0], [-3, 0], [0, -3], [0, -3]]


def test_late_news_arrive_in_order():
    player = limits.Delayed(OGD(Ball(1, 9.0), 1.0), 2).player()
    plays = []
    for z in (1.0, 2.0, 3.0, 4.0):
        plays.append(float(player.predict()[0]))
        player.update(Linear([z]))
    assert plays == [0.0, 0.0, 0.0, -1.0] and player.predict()[0] == -3.0


def test_multipliers_may_be_0_but_none_negative():
    problem = limits.DescentProblem(2.0, 1.5, 2, 0.4)
    proof = problem.textbook()
    promise, slack = problem.certify(proof | {("projection", "w2", "w1"): 0.0})
    assert promise == pytest.approx(4 / 0.8 + 0.4 * 2 * 2.25 / 2)
    assert promise == pytest.approx(problem.certify(proof)[0])
    assert np.linalg.eigvalsh(slack).min() > -1e-12
    with pytest.raises(ValueError, match=r"multipliers must be ≥ 0, got -0\.1"):
        problem.certify(proof | {("projection", "w2", "w1"): -0.1})


def test_what_holds_arrays_is_itself_alone():
    cases = [limits.WorstCase(1.0, {}, np.ones((2, 2)), Hull(np.eye(2))) for _ in range(2)]
    assert cases[0] == cases[0] != cases[1] and len(set(cases)) == 2
    games = [limits.solve_experts(2, 2) for _ in range(2)]
    assert games[0] == games[0] != games[1] and len(set(games)) == 2


@pytest.mark.parametrize(("rho", "size", "Z", "w"), [(3.0, 4.0, 2.0, 2.0), (1.0, 0.5, 1.0, 0.5)])
@pytest.mark.parametrize("within", ["ball", "diameter"])
def test_a_gram_matrix_becomes_vectors(rho, size, Z, w, within):
    """Of z1, z2, w2, u: at right angles, the first three of length 2, and u only rounding error."""
    problem = limits.DescentProblem(size, rho, 2, 0.4, within=within)
    losses, hull = problem._rebuild(np.diag([4.0, 4.0, 4.0, 1e-7 * 4.0]))
    vectors = np.vstack([losses, hull.vertices[1:]])
    assert vectors.shape == (4, 3) and not hull.vertices[0].any(), "no direction for what is no length"
    np.testing.assert_allclose(vectors @ vectors.T, np.diag([Z**2, Z**2, w**2, 0.0]), atol=1e-12)


def test_the_first_step_of_a_schedule_is_looked_at():
    with pytest.raises(ValueError, match=r"eta\(1\) must be finite .* got -1"):
        limits.DescentProblem(1.0, 1.0, 2, lambda t: -1.0 if t == 1 else 1.0)

"""The data sets are what their sources have: counts, totals and single entries that we looked up there."""

import numpy as np

from ocolib import data


def test_rain_has_every_day_of_four_years():
    days, millimetres, highs, lows = data.rain()
    assert len(days) == len(millimetres) == len(highs) == len(lows) == 1461
    assert str(days[0]) == "2012-01-01" and str(days[-1]) == "2015-12-31"
    assert (np.diff(days) == np.timedelta64(1, "D")).all()


def test_rain_agrees_with_its_source():
    days, millimetres, highs, lows = data.rain()
    assert (millimetres[1], highs[1], lows[1]) == (10.9, 10.6, 2.8)  # 2012-01-02
    wettest = millimetres.argmax()
    assert str(days[wettest]) == "2015-03-15" and millimetres[wettest] == 55.9
    assert np.isclose(millimetres.sum(), 4426.0) and lows.min() == -7.1 and highs.max() == 35.6
    assert (lows <= highs).all() and (millimetres >= 0).all()


def test_the_longest_dry_spell_ended_on_9_september_2012():
    """Forty-eight dry days, which the page on forecasters uses."""
    days, millimetres, _, _ = data.rain()
    rainy = np.flatnonzero(millimetres > 0)
    longest = np.diff(rainy).argmax()
    assert str(days[rainy[longest + 1]]) == "2012-09-09" and np.diff(rainy)[longest] == 49


def test_phishing_agrees_with_its_source():
    X, y = data.phishing()
    assert X.shape == (1250, 9) and set(np.unique(X)) == {0, 0.5, 1} and set(y) == {-1, 1}
    assert (y == 1).sum() == 702 and (y == -1).sum() == 548
    assert X[0].tolist() == [0, 0, 0, 0, 0, 0.5, 1, 1, 1] and y[0] == -1
    ones = [724, 167, 689, 315, 549, 408, 302, 750, 142]
    assert (X == 1).sum(axis=0).tolist() == ones


def test_larger_features_warn_of_phishing_except_popularity():
    X, y = data.phishing()
    gap = X[y == 1].mean(axis=0) - X[y == -1].mean(axis=0)
    assert np.flatnonzero(gap < 0).tolist() == [5]


def test_two_stocks_agree_with_their_source():
    """Wealth at the end as in the source's last row, extremes, quiet days, and the digits."""
    X = data.nyse()
    assert X.shape == (5651, 2) and np.allclose(X * 1e5, np.round(X * 1e5), atol=1e-9)
    assert np.allclose(X.prod(axis=0), [8.915107892599568, 4.127591246691333], rtol=1e-12)
    assert X.min(axis=0).tolist() == [0.77966, 0.75] and X.max(axis=0).tolist() == [1.22222, 1.35294]
    assert (X == 1).sum(axis=0).tolist() == [1308, 2506]


def test_what_a_loader_returns_may_be_changed():
    for load in (data.sunspots, data.rain, data.phishing, data.nyse):
        first = load()
        first[-1][:] = 0
        assert load()[-1].any()

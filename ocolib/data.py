"""Load the small real data sets that ship with the package: sunspots, rain, phishing sites, two stocks."""

import json
from importlib.resources import files
from typing import Any

import numpy as np

from ocolib.types import Array


def sunspots() -> tuple[Array, Array]:
    """Load the yearly mean sunspot numbers, 1700 to 2008: arrays (years, numbers) of length 309.

    These are the values published before the recalibration of 2015 (international number, version 1, of the
    Solar Influences Data Analysis Center, now WDC-SILSO, Royal Observatory of Belgium), as the US National
    Geophysical Data Center distributed them. statsmodels ships them as `statsmodels.datasets.sunspots`,
    marked public domain.

    >>> years, numbers = sunspots()
    >>> int(years[0]), int(years[-1]), float(numbers.max())
    (1700, 2008, 190.2)
    """
    numbers = np.array(_read("sunspots.json"), dtype=float)
    return 1700 + np.arange(len(numbers)), numbers


def rain() -> tuple[Array, Array, Array, Array]:
    """Load the daily weather of Seattle, 2012 to 2015: arrays (days, millimetres, highs, lows), length 1,461.

    `days` holds NumPy dates, every day from 2012-01-01 to 2015-12-31; `millimetres` is the day's
    precipitation (rain and melted snow), `highs` and `lows` are its extreme temperatures in °C.

    The records come from the US National Oceanic and Atmospheric Administration and are in the public domain.
    We took them from `seattle-weather.csv` in the package vega_datasets 0.9 (MIT licence) and left out wind
    and the type of weather.

    >>> days, millimetres, highs, lows = rain()
    >>> int((millimetres > 0).sum())  # wet days
    623
    """
    stored = _read("rain.json")  # integers, in tenths of a unit
    days = np.datetime64("2012-01-01") + np.arange(len(stored["millimetres"]))
    millimetres, highs, lows = (np.array(stored[name]) / 10 for name in ("millimetres", "highs", "lows"))
    return days, millimetres, highs, lows


def phishing() -> tuple[Array, Array]:
    """Load 1,250 web sites (X, y): nine features in {0, ½, 1}; y = +1 for phishing, −1 for legitimate sites.

    The columns of X, with the names used in river, are empty_server_form_handler, popup_window, https,
    request_from_other_domain, anchor_from_other_domain, is_popular, long_url, age_of_domain, ip_in_url. On
    average every feature except is_popular is larger for phishing sites, even https: read 1 as a warning.

    The data are "Website Phishing" by Neda Abdelhamid, UCI Machine Learning Repository, 2016 (CC BY 4.0), as
    stored in `phishing.csv.gz` of the package river 0.26 (BSD 3-Clause): in the same order, without the 103
    sites that the repository labels suspicious. The repository counts 702 phishing and 548 legitimate
    sites; river's column `is_phishing` marks the 548, so our y is −1 where river has 1.

    >>> X, y = phishing()
    >>> X.shape, int((y == 1).sum())
    ((1250, 9), 702)
    """
    table = np.array([list(map(int, site)) for site in _read("phishing.json")])
    return table[:, :9] / 2, 2.0 * table[:, 9] - 1


def nyse() -> Array:
    """Load the daily price relatives of Iroquois and Kin Ark, New York, 1962 to 1984: an array `(5651, 2)`.

    Row t is (Iroquois, Kin Ark): the closing price of trading day t divided by that of the day before, to
    five decimals. These are the two stocks of Cover's "Universal portfolios" (1991). There are no dates.

    We recovered them from the columns T and W of `nyse_o.csv` in the package universal-portfolios 0.4.17,
    which stores running products; every quotient equals a five-decimal number up to 1e-15, so no precision
    was lost. The licence of that package (Feedback MIT, which obliges those who copy the software to send
    feedback) does not mention the data, and we know of no statement of rights in them. Daily prices are
    facts; the series has been passed on between researchers since Cover's paper.

    >>> X = nyse()
    >>> X.shape, X[0].tolist(), X.prod(axis=0).round(2).tolist()
    ((5651, 2), [1.01515, 0.93333], [8.92, 4.13])
    """
    stored = _read("nyse.json")  # (relative − 1) in units of 1e-5
    return np.stack([1 + np.array(stored[name]) / 1e5 for name in ("iroquois", "kin_ark")], axis=1)


def _read(name: str) -> Any:
    """Read a JSON file that ships with the package."""
    return json.loads(files("ocolib").joinpath(name).read_text("utf8"))

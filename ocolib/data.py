"""Real series, small enough to ship.

`sunspots()`: the yearly mean sunspot number, 1700 to 2008, as published before the recalibration of 2015 (the
international number, version 1, of the Solar Influences Data Analysis Center, now WDC-SILSO, Royal
Observatory of Belgium). The values are those that the US National Geophysical Data Center distributed and
that statsmodels ships as `statsmodels.datasets.sunspots`, marked public domain there.
"""

import json
from importlib.resources import files

import numpy as np

from ocolib.protocols import Array


def sunspots() -> tuple[Array, Array]:
    """(years, numbers): 309 years and the mean sunspot number of each."""
    numbers = np.array(json.loads(files("ocolib").joinpath("sunspots.json").read_text("utf8")), dtype=float)
    return 1700 + np.arange(len(numbers)), numbers

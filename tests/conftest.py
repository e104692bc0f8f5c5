"""Every test run sees the same examples: what fails here fails everywhere."""

import os

import matplotlib
from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")
matplotlib.use("agg")

settings.register_profile(
    "book",
    derandomize=True,
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("book")

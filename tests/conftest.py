"""Every test run sees the same examples: what fails here fails everywhere."""

import gc
import os
import random

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


def pytest_collection_modifyitems(items):
    """ORDER=7 make unit: no test may need another one before it. Every process shuffles alike."""
    if order := os.environ.get("ORDER"):
        random.Random(order).shuffle(items)


def pytest_collection():
    gc.disable()


def pytest_collection_finish():
    """What is imported and collected by now stays until the end: nobody need look through it for waste."""
    gc.freeze()
    gc.enable()

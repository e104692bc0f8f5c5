"""Configure pytest for all tests: the same Hypothesis examples in every run, one thread, no display."""

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
    """Shuffle the tests with ORDER=7 make unit, to show that none depends on another."""
    if order := os.environ.get("ORDER"):
        random.Random(order).shuffle(items)


def pytest_collection():
    """Switch off garbage collection while tests are collected, which makes it faster."""
    gc.disable()


def pytest_collection_finish():
    """Exempt everything imported so far from garbage collection, since it stays until the end."""
    gc.freeze()
    gc.enable()

"""Worst cases as inequalities between fractions. The code is `ocolab.certificates`."""

from ocolab.certificates import *  # noqa: F403

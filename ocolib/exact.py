"""Dynamic programs without rounding. The code is `ocolab.exact`."""

from ocolab.exact import *  # noqa: F403

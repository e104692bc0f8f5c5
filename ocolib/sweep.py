"""Many games as one table. The code is `ocolab.sweep`."""

from ocolab.sweep import *  # noqa: F403

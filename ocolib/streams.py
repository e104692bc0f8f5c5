"""Games too long for the memory. The code is `ocolab.streams`."""

from ocolab.streams import *  # noqa: F403

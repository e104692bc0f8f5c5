"""Play a sweep on a dask cluster: python -m press cluster [tcp://host:8786]

Without an address, we start a scheduler and two workers as separate processes on this machine, and stop them
at the end. The results must be equal to those of a run without a cluster.
"""

import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

from distributed import Client
from joblib import parallel_config

from ocolab.sweep import sweep
from press import ROOT
from press.record import phases

GRID = {
    "learners": phases.CHOSEN[0][0],
    "games": [phases.biased, phases.turning],
    "horizons": [64, 256],
    "steps": [0.03125, 0.125, 0.5],
    "seeds": range(4),
    "measure": phases.regret,
}


@contextmanager
def started(*command):
    """Run a dask command as a process until the end of the `with` block."""
    quiet = os.environ | {"DASK_LOGGING__DISTRIBUTED": "error"}
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + command[0], *command[1:]], env=quiet
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def own_cluster(workers=2):
    """Start a scheduler and workers on this machine; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as free:  # find a free port
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    with ExitStack() as stack:
        quiet = ("--no-dashboard",)
        stack.enter_context(started("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), *quiet))
        for _ in range(workers):
            stack.enter_context(started("dask_worker", address, "--nthreads", "1", "--no-nanny", *quiet))
        yield address


def play_on(address, **options):
    """Return the rows of the grid, played by the workers of the scheduler at this address."""
    with Client(address, timeout=60) as client, parallel_config(backend="dask"):
        client.wait_for_workers(1, timeout=120)
        client.upload_file(phases.carried(ROOT / "_build"), load=False)  # the workers need the games
        return sweep(**GRID, **options)


def main(arguments):
    """Play the grid on the cluster and compare with a run without one; return the exit code."""
    with ExitStack() as stack:
        address = arguments[0] if arguments else stack.enter_context(own_cluster())
        began = time.perf_counter()
        rows = play_on(address)
        print(f"{len(rows)} games on {address} in {time.perf_counter() - began:.1f} s")
    same = rows == sweep(**GRID, n_jobs=1)
    print("equal to a run without a cluster" if same else "DIFFERENT from a run without a cluster")
    return int(not same)

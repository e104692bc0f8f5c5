"""Start Jupyter kernels by forking, for nbval, which starts a kernel for each page.

Most of a kernel's start-up time is spent on imports. Here one process imports the modules, and every kernel
is forked from it. A page sees nothing of the pages that ran before.
"""

import multiprocessing
import os
import signal
import sys

from jupyter_client.provisioning import local_provisioner

IMPORTS = ["ipykernel.kernelapp", "matplotlib_inline.backend_inline", "ocolib.plots", "ocolib.oracle"]


def fork_kernels():
    """Make this process start its kernels by forking, if the system supports that."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.get_context("forkserver").set_forkserver_preload(IMPORTS)
        local_provisioner.launch_kernel = Kernel


class Kernel:
    """A forked kernel, with the methods of `subprocess.Popen` that jupyter_client expects."""

    stdin = stdout = stderr = None

    def __init__(self, command, env=None, cwd=None, **settings):
        forks = multiprocessing.get_context("forkserver")
        heard, told = forks.Pipe(duplex=False)
        self.process = forks.Process(target=become_kernel, args=(command, env, cwd, told))
        self.process.start()
        self.pid = self.process.pid
        told.close()
        heard.recv()  # wait until it has its own process group, so that signals to the group do not reach us

    def poll(self):
        return self.process.exitcode

    def wait(self, timeout=None):
        self.process.join(timeout)
        return self.process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def become_kernel(command, env, cwd, told):
    """Do in a fork what `python -m ipykernel_launcher -f …` does in a new process."""
    from ipykernel import kernelapp

    os.setsid()
    told.send("ready")
    told.close()
    os.environ.clear()
    os.environ.update(env or {})
    os.chdir(cwd or ".")
    multiprocessing.set_start_method(None, force=True)  # pages may start processes as usual
    sys.argv = command[command.index("ipykernel_launcher") :]
    kernelapp.launch_new_instance()

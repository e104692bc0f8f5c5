"""Kernels that start at once, for nbval, which starts one for each page.

Most of the start of a kernel, and of many a page, is imports. Here one process imports them, and every kernel
is a fork of it: apart from that, a page finds nothing of the pages before it.
"""

import multiprocessing
import os
import signal
import sys

from jupyter_client.provisioning import local_provisioner

IMPORTS = ["ipykernel.kernelapp", "matplotlib_inline.backend_inline", "ocolib.plots", "ocolib.oracle"]


def fork_kernels():
    """From now on this process starts its kernels by forking, where the system can fork."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.get_context("forkserver").set_forkserver_preload(IMPORTS)
        local_provisioner.launch_kernel = Kernel


class Kernel:
    """A forked kernel, with the methods of the `subprocess.Popen` that jupyter_client expects."""

    stdin = stdout = stderr = None

    def __init__(self, command, env=None, cwd=None, **settings):
        forks = multiprocessing.get_context("forkserver")
        heard, told = forks.Pipe(duplex=False)
        self.process = forks.Process(target=become_kernel, args=(command, env, cwd, told))
        self.process.start()
        self.pid = self.process.pid
        told.close()
        heard.recv()  # it has a group of its own by now: signals to the group do not reach us

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
    """Do in a fork what `python -m ipykernel_launcher -f …` would do in a new process."""
    from ipykernel import kernelapp

    os.setsid()
    told.send("ready")
    told.close()
    os.environ.clear()
    os.environ.update(env or {})
    os.chdir(cwd or ".")
    multiprocessing.set_start_method(None, force=True)  # a page that starts processes does so as usual
    sys.argv = command[command.index("ipykernel_launcher") :]
    kernelapp.launch_new_instance()

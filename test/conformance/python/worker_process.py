"""A worker of workers/python as a process, which ends with this one."""

import atexit
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(sys.argv[2])
REPOSITORY = Path(__file__).parents[3]
ADDRESSES = json.loads((FOLDER / "addresses.json").read_text())


class Worker:
    def __init__(self, model, *command, python=sys.executable):
        self._log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        self.model, self.address = model, ADDRESSES[model]
        common = ["--model", model, "--listen", self.address, "--log-level", "debug"]
        self._command = [str(python), "-B", *command, *common]
        self.start()
        atexit.register(self.kill)

    def start(self):
        ready = self._count("Ready on port") + 1
        env = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(self._command, stderr=self._log, env=env)
        self.wait_for(lambda: self._count("Ready on port") == ready, "ready")

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)

    def wait_for(self, condition, what):
        limit = time.monotonic() + 60
        while not condition():
            if time.monotonic() > limit or (self.process.poll() not in (None, 0, -9)):
                raise AssertionError(f"the worker does not get {what}:\n{self._text()[-2000:]}")
            time.sleep(0.01)

    def conforms(self):
        """What `switchyard worker check` says: each failed check with its sentence."""
        node, program = REPOSITORY / "node_modules" / ".bin" / "node", REPOSITORY / "dist" / "main.cli.js"
        command = [node, program, "worker", "check", self.address, "--json", "--model", self.model]
        command += ["--pid", str(self.process.pid)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120)
        checks = json.loads(run.stdout)["checks"]
        for one in checks:
            print(f"      {one['state']:10} {one['name']:16} {one['detail']}", flush=True)
        return [one for one in checks if one["state"] == "fail"]

    def batches(self):
        """Items of each engine call so far."""
        return [int(size) for size in re.findall(r"Micro-batch done: \d+/(\d+) succeeded", self._text())]

    def _count(self, text):
        return self._text().count(text)

    def _text(self):
        return Path(self._log.name).read_text()

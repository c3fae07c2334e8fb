"""The scripted device of the Python peers: a group costs a + b * n milliseconds of sleep, one group at a time."""

import json
import os
import threading
import time

PORT = int(os.environ["PEER_PORT"])
GROUP = 8
# How long a batch waits for more, as LitServe, Ray Serve and a micro-batcher of one's own are told.
WINDOW_S = 0.005

_costs = json.loads(os.environ["DEVICE_COSTS"])
_one_at_a_time = threading.Lock()
_pid_file = os.environ["DEVICE_PID_FILE"]
_pid_written = False


def run(models: list[str]) -> list[str]:
    """`models`: that of each item of the group; it names the cost."""
    global _pid_written
    assert len(models) <= GROUP
    cost = _costs[models[0]]
    with _one_at_a_time:
        if not _pid_written:
            with open(_pid_file, "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
            _pid_written = True
        time.sleep((cost["groupMs"] + cost["itemMs"] * len(models)) / 1000)
    return ["done"] * len(models)

"""The example worker of workers/python behind the gateway: groups, failures, cancel, kill, drain, long audio."""

import io
import os
import signal
import threading
import time
import wave

import httpx2
import openai
from checks import check, equal, holds, raises
from product import BASE_URL, transcribe
from worker_process import REPOSITORY, Worker

worker = Worker("python-meter", str(REPOSITORY / "workers" / "python" / "examples" / "loudness.py"))
ROOT = BASE_URL.removesuffix("/v1")


def tone(seconds):
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes(b"\x00\x10\x00\xf0" * (8000 * seconds))
    return ("tone.wav", file.getvalue())


def measure(seconds=1, **options):
    return transcribe(file=tone(seconds), model="python-meter", timeout=60, **options)


class Later(threading.Thread):
    """A call on a thread of its own."""

    def __init__(self, call, *args, **options):
        super().__init__(daemon=True)
        self._call = lambda: call(*args, **options)
        self.error = self.answer = None
        self.start()

    def run(self):
        try:
            self.answer = self._call()
        except Exception as error:  # what the caller gets is what is looked at
            self.error = error

    def text(self):
        self.join(60)
        if self.error:
            raise self.error
        return self.answer.text


def in_use():
    workers = httpx2.get(f"{ROOT}/admin/v1/workers").json()["data"]
    return sum(one["slots"]["in_use"] for one in workers if one["model"] == "python-meter")


def until(condition, what):
    limit = time.monotonic() + 30
    while not condition():
        holds(time.monotonic() < limit, what)
        time.sleep(0.01)


def holding(seconds):
    """A call that holds the device for so long; returns when the worker has it."""
    held = Later(measure, prompt=f"sleep {seconds}")
    until(lambda: in_use() == 1, "the call does not reach the worker")
    time.sleep(0.1)
    return held


@check("python worker: answers, and its failure is the caller's 400")
def _():
    equal(measure().text, "1.00 s at -18 dB")
    error = raises(openai.BadRequestError, lambda: transcribe(file=("x.wav", b"RIFF" * 300), model="python-meter"))
    equal((error.code, error.param), ("invalid_audio", "file"))


@check("python worker: eight callers behind a busy device are one engine call")
def _():
    held = holding(2)
    calls = [Later(measure) for _ in range(8)]
    equal([call.text() for call in calls], ["1.00 s at -18 dB"] * 8)
    held.text()
    equal(worker.batches()[-1], 8)


@check("python worker: 25 MB and 13 minutes arrive in pieces; a stream has its segment")
def _():
    equal(measure(780).text, "780.00 s at -18 dB")
    events = list(measure(stream=True))
    equal([event.type for event in events], ["transcript.text.delta", "transcript.text.done"])


@check("python worker: a waiting call is cancelled at once, and the device keeps its work")
def _():
    held = holding(2)
    waiting = Later(measure, extra_headers={"X-Request-Id": "to-cancel"})
    until(lambda: in_use() == 2, "the second call does not reach the worker")
    started = time.monotonic()
    holds(httpx2.post(f"{BASE_URL}/requests/to-cancel/cancel").json()["cancelled"], "the request is not known")
    waiting.join(10)
    equal(waiting.error.status_code, 499)
    holds(time.monotonic() - started < 1, "the caller waited for the device")
    until(lambda: in_use() == 1, "the slot is not free")
    held.text()


@check("python worker: kill -9 costs the caller nothing but time")
def _():
    held = holding(2)
    worker.kill()
    worker.process.wait()
    worker.start()
    equal(held.text(), "1.00 s at -18 dB")


@check("python worker: SIGTERM lets the running call end, and a new one waits for the next worker")
def _():
    held = holding(2)
    worker.kill(signal.SIGTERM)
    time.sleep(0.2)
    new = Later(measure)
    equal(held.text(), "1.00 s at -18 dB")
    equal(worker.process.wait(15), 0)
    worker.start()
    equal(new.text(), "1.00 s at -18 dB")


@check("python worker: switchyard worker check finds nothing wrong, and it drains")
def _():
    equal(worker.conforms(), [])
    equal(worker.process.wait(15), 0)


def supervised():
    workers = httpx2.get(f"{ROOT}/admin/v1/workers").json()["data"]
    return next(one for one in workers if one["id"] == "python-meter-run-0")


@check("python worker: run by the gateway, it answers groups, and its death costs a restart")
def _():
    def measure_run(**options):
        return transcribe(file=tone(1), model="python-meter-run", timeout=60, **options)

    equal(measure_run().text, "1.00 s at -18 dB")
    calls = [Later(measure_run) for _ in range(8)]
    equal([call.text() for call in calls], ["1.00 s at -18 dB"] * 8)
    before = supervised()
    held = Later(measure_run, prompt="sleep 2")
    until(lambda: supervised()["slots"]["in_use"] == 1, "the call does not reach the worker")
    os.kill(before["pid"], signal.SIGKILL)
    equal(held.text(), "1.00 s at -18 dB")
    after = supervised()
    equal((after["restarts"], after["last_exit"]["signal"]), (1, "SIGKILL"))
    holds(after["pid"] != before["pid"], "it is the same process")

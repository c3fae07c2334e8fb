"""Turns a Python class with `transcribe`, `synthesize` or `generate` into a worker for the Switchyard gateway."""

from .engine import Device, Engine, Generator, Synthesizer, Transcriber
from .errors import WorkerError
from .request import Request
from .server import serve, worker_arguments

__all__ = ["Device", "Engine", "Generator", "Request", "Synthesizer", "Transcriber", "WorkerError"]
__all__ += ["serve", "worker_arguments"]

"""Turns a Python class with `transcribe`, `synthesize` or `generate` into a worker for the Switchyard gateway."""

from .engine import Engine, Generator, Synthesizer, Transcriber
from .errors import WorkerError
from .request import Request
from .server import serve, worker_arguments

__all__ = ["Engine", "Generator", "Request", "Synthesizer", "Transcriber", "WorkerError", "serve", "worker_arguments"]

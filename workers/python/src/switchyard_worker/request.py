"""One call, from its arrival until its last thread has stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from switchyard.v1.common_pb2 import ProgressResponse

from .errors import WorkerError

M = TypeVar("M")
T = TypeVar("T")


class Request(Generic[M]):
    """`message` is the protobuf message as the gateway sent it."""

    def __init__(self, message: M) -> None:
        call: Any = message
        self.message = message
        self.id: str = call.request_id
        self.is_batch = bool(call.priority)
        #: Calls that the gateway dispatched together, and how many they are.
        self.group_id, self.group_size = call.group.id, call.group.size
        #: Milliseconds that the device may take for this call alone; 0: none is known.
        self.limit_ms: float = call.group.time_limit_ms
        #: Of the engine calls that compute it now: when each began (monotonic seconds), and milliseconds it may take.
        self.device: list[tuple[float, float]] = []
        #: Room for what `prepare` makes.
        self.prepared: Any = None
        #: May be read from any thread. An engine that checks it between steps frees its device sooner.
        self.cancelled = False
        #: Sends a part of the answer now, from any thread: a final SegmentDone, or PCM of speech.
        self.emit: Callable[[Any], object] = lambda _part: None
        self._error = WorkerError("request_cancelled", "The request was cancelled.")
        self._waiting: set[asyncio.Future[Any]] = set()

    def is_attempt(self, attempt: str) -> bool:
        """`attempt`: the id of a group; empty: any."""
        return not attempt or not self.group_id or attempt == self.group_id

    def progress(self) -> ProgressResponse:
        known = ProgressResponse(known=True, on_device=bool(self.device))
        if self.device:
            now = time.monotonic()
            began, known.limit_ms = min(self.device, key=lambda call: call[1] - 1000 * (now - call[0]))
            known.device_ms = 1000 * (now - began)
        return known

    def cancel(self, error: WorkerError) -> None:
        """Event loop only. Idempotent: the first error counts."""
        if not self.cancelled:
            self.cancelled, self._error = True, error
        for future in self._waiting:
            future.cancel()

    def check(self) -> None:
        if self.cancelled:
            raise self._error

    async def unless_cancelled(self, future: asyncio.Future[T]) -> T:
        """Awaits `future`; if the request is cancelled, cancels it, and raises when it has ended."""
        self._waiting.add(future)
        try:
            self.check()
            return await future
        except asyncio.CancelledError:
            self.check()
            raise
        finally:
            self._waiting.discard(future)

"""One call, from its arrival until its last thread has stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Generic, TypeVar

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
        #: Room for what `prepare` makes.
        self.prepared: Any = None
        #: May be read from any thread. An engine that checks it between steps frees its device sooner.
        self.cancelled = False
        #: Sends a part of the answer now, from any thread: a final SegmentDone, or PCM of speech.
        self.emit: Callable[[Any], object] = lambda _part: None
        self._error = WorkerError("request_cancelled", "The request was cancelled.")
        self._waiting: set[asyncio.Future[Any]] = set()

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

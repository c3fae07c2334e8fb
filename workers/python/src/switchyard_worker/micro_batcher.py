"""Prepares items side by side and gives the device one call for all that is ready."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from switchyard.v1.common_pb2 import Execution

from .engine import BatchEngine
from .errors import as_worker_error
from .ready_queue import FLOOR_S, Item, ReadyQueue
from .request import Request

log = logging.getLogger("switchyard_worker")

#: After an engine call, the device waits so much of its time, and no longer than this, for the callers it answered:
#: eight callers in a closed loop would else settle as two groups of four that take turns. Before a call, it waits so
#: much of its usual time for what is being prepared, if that time is worth it: uploads that came together share a call.
RETURN_SHARE, RETURN_LIMIT_S, OTHERS_SHARE = 0.1, 0.5, 0.25
#: As long as the last REALTIME item came less than LIVE_S ago, a call takes no more items than the device computes in
#: LIVE_CALL_S: the next REALTIME item waits for the call that runs. On a GPU that is a whole group.
LIVE_S, LIVE_CALL_S = 30.0, 1.0


class MicroBatcher:
    """Methods: event loop only. The engine's `prepare` and `compute`, its batched method, run on threads."""

    def __init__(self, engine: BatchEngine, compute: Callable[[Sequence[Any]], Sequence[Any]]) -> None:
        self._engine, self._compute = engine, compute
        self._device = ThreadPoolExecutor(engine.max_concurrent, "device")
        self._preparers = ThreadPoolExecutor(engine.prepare_threads, "prepare")
        self._queue = ReadyQueue()
        self._running = 0
        #: An engine call ended and left ready items: those never wait for the rest of their group.
        self._freed = False
        self._waiting_since: float | None = None
        #: Callers that were just answered, and until when they are waited for.
        self._answered, self._return_until = 0, 0.0
        #: What an engine call usually takes.
        self._call_s = engine.call_s
        #: The same by item.
        self._item_s = 0.0
        self._live_until = 0.0
        self._wake: asyncio.TimerHandle | None = None

    async def run(self, request: Request[Any], work: Any) -> tuple[Any, Execution]:
        """Returns this item's result. If the request is cancelled, raises when no thread works for it any more."""
        request.check()
        item = Item(request, work)
        item.result = asyncio.get_running_loop().create_future()
        self._queue.arrive(item)
        if not request.is_batch:
            self._live_until = time.monotonic() + LIVE_S
        try:
            await self._prepare(item)
            self._start()
            return await request.unless_cancelled(item.result), item.execution
        finally:
            self._queue.depart(item)
            # One member less may be what an idle device was waiting for.
            self._start()
            if item.call is not None:
                await asyncio.wait([item.call])

    async def _prepare(self, item: Item) -> None:
        loop, started, ready = asyncio.get_running_loop(), time.monotonic(), False
        try:
            await loop.run_in_executor(self._preparers, self._engine.prepare, item.work)
            item.request.check()
            ready = True
        finally:
            item.ready_at = time.monotonic()
            item.execution.prep_ms = 1000 * (item.ready_at - started)
            self._queue.prepared(item, ready)

    def _start(self) -> None:
        """Gives the device what it may take now."""
        if self._wake is not None:
            self._wake.cancel()
        while len(self._queue) and self._running < self._engine.max_concurrent:
            now = time.monotonic()
            until = self._start_at(now)
            if until > now:
                self._waiting_since = self._waiting_since or now
                self._wake = asyncio.get_running_loop().call_later(until - now, self._start)
                return
            self._launch(self._queue.take(self._most_together(now)))
        self._waiting_since, self._freed = None, False

    def _most_together(self, now: float) -> int:
        most = self._engine.max_batch
        if now > self._live_until or not self._item_s:
            return most
        return max(1, min(most, int(LIVE_CALL_S / self._item_s)))

    def _start_at(self, now: float) -> float:
        queue, ready, others_s = self._queue, len(self._queue), OTHERS_SHARE * self._call_s
        if ready >= self._most_together(now) or self._running:
            return now
        first, until = queue.in_order()[0], self._waiting_since or now
        waits_for_others = queue.preparing > 0 and first.request.is_batch and others_s >= FLOOR_S
        if not self._freed:
            until += max(queue.group_wait_s * (queue.missing(first) > 0), others_s * waits_for_others)
        return max(until, self._return_until if ready < self._answered else now)

    def _launch(self, items: list[Item]) -> None:
        self._running += 1
        loop, started, batch_id = asyncio.get_running_loop(), time.monotonic(), str(uuid.uuid4())
        ended: asyncio.Future[None] = loop.create_future()
        # The time limits of all members hold together.
        device = (started, sum(item.request.limit_ms for item in items))
        for item in items:
            item.call = ended
            item.request.device.append(device)
            ended.add_done_callback(partial(_left_device, item.request, device))
            item.execution.ready_wait_ms = 1000 * (started - item.ready_at)
            item.execution.batch_size, item.execution.batch_id = len(items), batch_id
        self._log_start(items)
        call = loop.run_in_executor(self._device, self._outcomes, [item.work for item in items])
        call.add_done_callback(lambda done: self._ended(items, done.result(), time.monotonic() - started))
        call.add_done_callback(lambda _: ended.set_result(None))

    def _ended(self, items: list[Item], outcomes: Sequence[Any], device_s: float) -> None:
        self._call_s = usual(self._call_s, device_s)
        self._item_s = usual(self._item_s, device_s / len(items))
        self._log_end(items, outcomes, device_s)
        self._running -= 1
        self._freed = True
        self._answered = sum(not item.result.done() for item in items)
        self._return_until = time.monotonic() + min(RETURN_LIMIT_S, RETURN_SHARE * device_s)
        self._start()
        for item, outcome in zip(items, outcomes, strict=True):
            item.execution.device_ms = 1000 * device_s
            if isinstance(outcome, BaseException) and not item.result.done():
                item.result.set_exception(as_worker_error(outcome))
            elif not item.result.done():
                item.result.set_result(outcome)

    def _log_start(self, items: Sequence[Item]) -> None:
        size = len(items)
        log.info("Batch collected: %d/%d items", size, self._engine.max_batch)
        log.info("Batch ready: size=%d, taking the device", size)
        log.info("Micro-batch CPU prep done: %.2fs for %d items", _prep_s(items), size)
        log.info("Micro-batch start: size=%d", size)

    def _log_end(self, items: Sequence[Item], outcomes: Sequence[Any], device_s: float) -> None:
        size, prep_s, succeeded = len(items), _prep_s(items), 0
        for item, outcome in zip(items, outcomes, strict=True):
            failed = isinstance(outcome, BaseException)
            succeeded += not failed
            text = f"failed: {outcome}" if failed else self._engine.summary(item.work, outcome)
            log.info("Batch item %s gpu_time=%.2fs", text, device_s / size)
        done = "Micro-batch done: %d/%d succeeded in %.2fs (prep=%.2fs device=%.2fs)"
        log.info(done, succeeded, size, prep_s + device_s, prep_s, device_s)

    def _outcomes(self, works: Sequence[Any]) -> Sequence[Any]:
        """One outcome per item whatever the engine does: a call that raises fails all of its items."""
        try:
            outcomes = self._compute(works)
            if len(outcomes) == len(works):
                return outcomes
            raise RuntimeError(f"the engine returned {len(outcomes)} results for {len(works)} items")
        except BaseException as error:
            log.exception("The engine failed on %d items", len(works))
            return [error] * len(works)


def _left_device(request: Request[Any], device: tuple[float, float], _ended: asyncio.Future[None]) -> None:
    request.device.remove(device)


def _prep_s(items: Sequence[Item]) -> float:
    return max(item.execution.prep_ms for item in items) / 1000


def usual(before: float, now: float) -> float:
    """0 before the first one."""
    return before + (now - before) * (0.15 if before else 1)

"""Prepared items that wait for the device: who goes first, and who is missing from which group."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from switchyard.v1.common_pb2 import Execution

from .request import Request

#: A BATCH item that so many later REALTIME items have passed goes in the order of arrival; part of the protocol.
MOST_OVERTAKING = 64
#: Bounds of the wait for the members of a group, in seconds.
FLOOR_S, CEILING_S = 0.05, 0.25


class Item:
    """One piece of work of a request. Long requests have several: windows of one file."""

    result: asyncio.Future[Any]
    #: Ends with the engine call that computes it.
    call: asyncio.Future[None] | None = None
    #: In order of arrival; and REALTIME items that had arrived before.
    sequence = realtime_before = 0
    ready_at = 0.0

    def __init__(self, request: Request[Any], work: Any) -> None:
        self.request, self.work, self.execution = request, work, Execution(batch_size=1)


class ReadyQueue:
    """REALTIME first, then arrival. Items of one request take turns with others: everybody's first, then the second."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._arrived = self._realtime = self.preparing = 0
        #: By group id: size, arrived, being prepared, present; and the time of the first arrival.
        self._groups: dict[str, list[float]] = {}
        self._usual_s: float | None = None

    def __len__(self) -> int:
        return len(self._items)

    def arrive(self, item: Item) -> None:
        self._arrived += 1
        self.preparing += 1
        self._realtime += not item.request.is_batch
        item.sequence, item.realtime_before = self._arrived, self._realtime
        if item.request.group_size > 1:
            group = self._groups.setdefault(item.request.group_id, [item.request.group_size, 0, 0, 0, time.monotonic()])
            group[1:4] = [count + 1 for count in group[1:4]]

    def prepared(self, item: Item, ready: bool) -> None:
        """`ready` False: its preparation failed, or it was cancelled."""
        self.preparing -= 1
        if ready:
            self._items.append(item)
        if group := self._groups.get(item.request.group_id):
            group[2] -= 1
            if self.missing(item) == 0:
                elapsed = time.monotonic() - group[4]
                self._usual_s = elapsed if self._usual_s is None else 0.8 * self._usual_s + 0.2 * elapsed

    def depart(self, item: Item) -> None:
        if item in self._items:
            self._items.remove(item)
        if group := self._groups.get(item.request.group_id):
            group[3] -= 1
            if group[3] <= 0:
                del self._groups[item.request.group_id]

    def missing(self, item: Item) -> int:
        """Members of its group that are still arriving or being prepared."""
        size, arrived, preparing, *_ = self._groups.get(item.request.group_id, [0, 0, 0])
        return int(max(0, size - arrived) + preparing)

    @property
    def group_wait_s(self) -> float:
        """Twice the time that groups usually need to be complete."""
        return CEILING_S if self._usual_s is None else min(CEILING_S, max(FLOOR_S, 2 * self._usual_s))

    def in_order(self) -> list[Item]:
        turns: dict[Request[Any], int] = {}
        places: dict[Item, tuple[bool, int, int]] = {}
        for item in sorted(self._items, key=lambda one: one.sequence):
            waits = item.request.is_batch and self._realtime - item.realtime_before < MOST_OVERTAKING
            turn = turns[item.request] = turns.get(item.request, 0) + 1
            places[item] = (waits, turn, item.sequence)
        return sorted(places, key=places.__getitem__)

    def take(self, count: int) -> list[Item]:
        taken = self.in_order()[:count]
        self._items = [item for item in self._items if item not in taken]
        return taken

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckResponse
from harness import Client, Scripted, entered, trailers, worker

from switchyard.v1 import common_pb2 as common
from switchyard.v1 import stt_pb2 as stt
from switchyard_worker import serve

BATCH, REALTIME = common.PRIORITY_BATCH, common.PRIORITY_REALTIME


class Preparing(Scripted):
    """Prepares on demand, one after another."""

    prepare_threads = 1

    def __init__(self) -> None:
        super().__init__()
        self.prepared = threading.Event()

    def prepare(self, call: Any) -> None:
        self.prepared.wait(10)


def on_worker(test: Callable[[Scripted, Client], Awaitable[None]]) -> Callable[[], None]:
    async def body() -> None:
        engine = Scripted()
        async with worker(engine) as client:
            await test(engine, client)

    return lambda: asyncio.run(body())


async def failure(call: Any) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


async def held(engine: Scripted, client: Client, request_id: str = "first") -> Any:
    """A call that holds the device until the gate opens."""
    engine.gate.clear()
    call = asyncio.ensure_future(client.transcribe(request_id))
    await entered(engine)
    return call


async def in_flight(client: Client, count: int) -> None:
    while (await client.health()).in_flight != count:
        await asyncio.sleep(0.005)


@on_worker
async def test_serves_both_health_services(_engine: Scripted, client: Client) -> None:
    health = await client.health()
    assert await client.check() == HealthCheckResponse.SERVING
    assert (health.state, health.model, health.kind) == (common.HealthResponse.STATE_READY, "m", "stt")
    assert (health.max_batch, health.max_concurrent, health.in_flight) == (8, 1, 0)
    assert health.max_message_bytes >= 41 << 20


@on_worker
async def test_computes_the_members_of_a_group_in_one_engine_call(engine: Scripted, client: Client) -> None:
    answers = await asyncio.gather(*(client.transcribe(str(at), group="g", size=8) for at in range(8)))
    assert [len(batch) for batch in engine.batches] == [8]
    assert {answer.execution.batch_size for answer in answers} == {8}
    assert len({answer.execution.batch_id for answer in answers}) == 1


@on_worker
async def test_an_idle_device_waits_at_most_a_quarter_second_for_a_member(_engine: Scripted, client: Client) -> None:
    answer = await asyncio.wait_for(client.transcribe("alone", group="g", size=2), 2)
    assert answer.execution.batch_size == 1


def test_a_slow_device_gives_groups_that_came_together_one_call() -> None:
    engine = Preparing()
    engine.call_s = 40

    async def body() -> None:
        async with worker(engine) as client:
            groups = [("a", 4)] * 4 + [("b", 1)] + [("c", 3)] * 3
            calls = [
                asyncio.ensure_future(client.transcribe(str(at), group=group, size=size, priority=BATCH))
                for at, (group, size) in enumerate(groups)
            ]
            await in_flight(client, 8)
            engine.prepared.set()
            await asyncio.gather(*calls)

    asyncio.run(body())
    assert [len(batch) for batch in engine.batches] == [8]


@on_worker
async def test_fails_one_item_and_answers_the_others(engine: Scripted, client: Client) -> None:
    first = await held(engine, client)
    prompts = ["", "fail voice_not_found", "bad file", ""]
    calls = [asyncio.ensure_future(client.transcribe(str(at), prompt=said)) for at, said in enumerate(prompts)]
    await in_flight(client, 4)
    engine.gate.set()
    await first
    said = [await failure(calls[1]), await failure(calls[2])]
    assert [trailers(one)["switchyard-code"] for one in said] == ["voice_not_found", "invalid_audio"]
    assert trailers(said[0])["switchyard-param"] == "prompt%20%C3%BC"
    assert (await calls[0]).text == (await calls[3]).text == "4 bytes"


def test_each_engine_call_is_logged_with_its_items_and_times(caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        async with worker(Scripted()) as client:
            prompts = {"a": "", "b": "fail invalid_audio"}
            calls = [client.transcribe(name, prompt=said, group="g", size=2) for name, said in prompts.items()]
            await asyncio.gather(*calls, return_exceptions=True)

    caplog.set_level("INFO", "switchyard_worker")
    asyncio.run(body())
    lines = [re.sub(r"[0-9.]+s", "Ns", record.getMessage()) for record in caplog.records]
    assert [line for line in lines if "atch" in line] == [
        "Batch collected: 2/8 items",
        "Batch ready: size=2, taking the device",
        "Micro-batch CPU prep done: Ns for 2 items",
        "Micro-batch start: size=2",
        "Batch item transcribed: language= duration=Ns gpu_time=Ns",
        "Batch item failed: as the script says gpu_time=Ns",
        "Micro-batch done: 1/2 succeeded in Ns (prep=Ns device=Ns)",
    ]


@on_worker
async def test_a_call_that_raises_fails_all_its_items(_engine: Scripted, client: Client) -> None:
    error = await failure(client.transcribe("a", prompt="crash"))
    assert (trailers(error)["switchyard-code"], error.code()) == ("engine_failed", grpc.StatusCode.INTERNAL)
    assert (await client.transcribe("b")).text == "4 bytes"


@on_worker
async def test_realtime_overtakes_batch(engine: Scripted, client: Client) -> None:
    first = await held(engine, client)
    calls = [asyncio.ensure_future(client.transcribe(f"b{at}", priority=BATCH)) for at in range(8)]
    await in_flight(client, 9)
    calls += [asyncio.ensure_future(client.transcribe(f"r{at}")) for at in range(8)]
    while len(engine.prepared) < 17:
        await asyncio.sleep(0.005)
    # Answered after the worker heard of the last one.
    await in_flight(client, 17)
    engine.gate.set()
    await asyncio.gather(first, *calls)
    assert [{one[0] for one in batch} for batch in engine.batches[1:]] == [{"r"}, {"b"}]


@pytest.mark.parametrize("priority, sizes", [(REALTIME, [1, 1, 1]), (BATCH, [3])])
def test_calls_stay_short_while_realtime_comes(priority: int, sizes: list[int]) -> None:
    """Each item takes more than half a second."""
    engine = Scripted()

    async def body() -> None:
        async with worker(engine) as client:
            engine.gate.clear()
            first = asyncio.ensure_future(client.transcribe("first", priority=priority))
            await entered(engine)
            calls = [asyncio.ensure_future(client.transcribe(f"b{at}", priority=BATCH)) for at in range(3)]
            await in_flight(client, 4)
            await asyncio.sleep(0.7)
            engine.gate.set()
            await asyncio.gather(first, *calls)

    asyncio.run(body())
    assert [len(batch) for batch in engine.batches[1:]] == sizes


@on_worker
async def test_a_waiting_call_ends_within_100_ms_of_its_cancel(engine: Scripted, client: Client) -> None:
    first = await held(engine, client)
    waiting = asyncio.ensure_future(client.transcribe("waiting"))
    await in_flight(client, 2)
    started = time.monotonic()
    assert await client.cancel("waiting")
    error = await failure(waiting)
    assert time.monotonic() - started < 0.1
    assert (error.code(), trailers(error)) == (
        grpc.StatusCode.CANCELLED,
        {"switchyard-code": "request_cancelled"},
    )
    engine.gate.set()
    await first
    assert engine.batches == [["first"]]


@on_worker
async def test_a_call_on_the_device_ends_when_the_engine_stops(engine: Scripted, client: Client) -> None:
    first = await held(engine, client)
    assert await client.cancel("first")
    assert await client.cancel("first")
    done, _ = await asyncio.wait([first], timeout=0.05)
    assert not done
    engine.gate.set()
    assert trailers(await failure(first))["switchyard-code"] == "request_cancelled"
    assert not await client.cancel("first")


@on_worker
async def test_a_cancel_of_another_attempt_stops_nothing(engine: Scripted, client: Client) -> None:
    first = await held(engine, client)
    assert not await client.cancel("first", "an earlier attempt")
    engine.gate.set()
    assert (await first).text == "4 bytes"


@on_worker
async def test_says_when_the_device_began_and_what_its_whole_call_may_take(engine: Scripted, client: Client) -> None:
    first = await held(engine, client)
    group = [asyncio.ensure_future(client.transcribe(n, group="g", size=2, limit_ms=100)) for n in ("a", "b")]
    await in_flight(client, 3)
    waiting = await client.progress("a", "g")
    assert (waiting.known, waiting.on_device) == (True, False)
    assert not (await client.progress("a", "another")).known
    engine.gate.set()
    await asyncio.gather(first, *group)
    engine.gate.clear()
    third = [asyncio.ensure_future(client.transcribe(n, group="h", size=2, limit_ms=100)) for n in ("c", "d")]
    await entered(engine)
    await entered(engine)
    computed = await client.progress("c", "h")
    assert (computed.on_device, computed.limit_ms) == (True, 200)
    assert computed.device_ms >= 0
    engine.gate.set()
    await asyncio.gather(*third)
    assert not (await client.progress("c")).known


@on_worker
async def test_a_hang_up_holds_the_slot_until_the_engine_stops(engine: Scripted, client: Client) -> None:
    first = await held(engine, client)
    first.cancel()
    assert (await client.health()).in_flight == 1
    engine.gate.set()
    await in_flight(client, 0)


@on_worker
async def test_a_deadline_ends_a_waiting_call(engine: Scripted, client: Client) -> None:
    first = await held(engine, client)
    error = await failure(client.transcribe("late", timeout=0.1))
    assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    await in_flight(client, 1)
    engine.gate.set()
    await first


@on_worker
async def test_refuses_an_id_that_is_empty_or_running_and_audio_by_url(engine: Scripted, client: Client) -> None:
    first = await held(engine, client)
    said = [await failure(client.transcribe(request_id)) for request_id in ("first", "")]
    said.append(await failure(client.transcribe("u", audio_url="http://example.org/a.wav")))
    codes = ["duplicate_request_id", "missing_required_parameter", "file_url_refused"]
    assert [trailers(one)["switchyard-code"] for one in said] == codes
    engine.gate.set()
    await first


@on_worker
async def test_takes_audio_of_40_mib_in_pieces_and_sends_segments(_engine: Scripted, client: Client) -> None:
    start = stt.TranscribeFileRequest(request_id="long")
    answers = await client.upload(start, [bytes(65_536)] * 640)
    assert [one.WhichOneof("message") for one in answers] == ["segment", "segment", "done"]
    assert [word.word for word in answers[1].segment.words] == ["1"]
    assert answers[2].done.text == f"{40 << 20} bytes"


@on_worker
async def test_drains_on_sigterm(engine: Scripted, client: Client) -> None:
    first = await held(engine, client)
    os.kill(os.getpid(), signal.SIGTERM)
    while await client.check() == HealthCheckResponse.SERVING:
        await asyncio.sleep(0.005)
    error = await failure(client.transcribe("new"))
    assert (error.code(), trailers(error)["switchyard-code"]) == (grpc.StatusCode.UNAVAILABLE, "shutting_down")
    assert (await client.health()).state == common.HealthResponse.STATE_DRAINING
    engine.gate.set()
    assert (await first).text == "4 bytes"


def test_listens_beyond_this_machine_only_with_protection_or_on_demand() -> None:
    with pytest.raises(SystemExit, match="0\\.0\\.0\\.0:0 reaches beyond this machine"):
        serve(Scripted(), ["--model", "m", "--listen", "0.0.0.0:0"])


def test_names_an_address_that_is_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SystemExit, match=f"Cannot listen on {address}: "):
            serve(Scripted(), ["--model", "m", "--listen", address])


def test_demands_its_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")

    async def body() -> None:
        async with worker(Scripted(), "--token-file", str(tmp_path / "token")) as client:
            error = await failure(client.check())
            assert error.code() == grpc.StatusCode.UNAUTHENTICATED
            right = (("authorization", "Bearer s3cret"),)
            while await client.check(metadata=right) != HealthCheckResponse.SERVING:
                await asyncio.sleep(0.01)
            assert (await client.transcribe("a", metadata=right)).text == "4 bytes"
            wrong = await failure(client.transcribe("b", metadata=(("authorization", "Bearer other"),)))
            assert wrong.code() == grpc.StatusCode.UNAUTHENTICATED

    asyncio.run(body())

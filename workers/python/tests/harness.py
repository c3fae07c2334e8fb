"""A worker on a free port in this process, and calls to it as a gateway makes them."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from switchyard.v1 import common_pb2 as common
from switchyard.v1 import stt_pb2 as stt
from switchyard_worker import Engine, Request, Transcriber, WorkerError, worker_arguments
from switchyard_worker.server import run

Call = Request[stt.TranscribeFileRequest]


class Scripted(Transcriber):
    """Does what each prompt says: "fail CODE" or "crash"; a closed gate holds the device. Remembers its batches."""

    max_batch = 8

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.prepared: list[str] = []
        self.gate, self.entered = threading.Event(), threading.Semaphore(0)
        self.gate.set()

    def prepare(self, call: Call) -> None:
        if call.message.prompt == "bad file":
            raise WorkerError("invalid_audio", "No audio.", "file")
        self.prepared.append(call.id)

    def transcribe(self, batch: Sequence[Call]) -> list[stt.TranscribeFileResponse | BaseException]:
        self.batches.append([call.id for call in batch])
        self.entered.release()
        self.gate.wait(10)
        return [self.answer(call) for call in batch]

    def answer(self, call: Call) -> stt.TranscribeFileResponse | BaseException:
        verb, _, what = call.message.prompt.partition(" ")
        if verb == "fail":
            return WorkerError(what, "as the script says", "prompt ü")
        if verb == "crash":
            raise RuntimeError("the device is gone")
        segments = [stt.Segment(id=at, start=at, end=at + 1, text=str(at)) for at in range(2)]
        words = [stt.Word(word=str(at), start=at, end=at + 0.5) for at in range(2)]
        text = f"{len(call.message.audio)} bytes"
        return stt.TranscribeFileResponse(text=text, duration_s=2, segments=segments, words=words)


class Client:
    def __init__(self, channel: grpc.aio.Channel, service: str = "SpeechToText") -> None:
        self._channel, self._service = channel, service

    def _unary(self, method: str, message: Any, answer: Any, **options: Any) -> Any:
        call: Any = self._channel.unary_unary(method, lambda sent: sent.SerializeToString(), answer.FromString)
        return call(message, **options)

    def stream(self, method: str, message: Any, answer: Any) -> Any:
        path = f"/switchyard.v1.{self._service}/{method}"
        return self._channel.unary_stream(path, lambda sent: sent.SerializeToString(), answer.FromString)(message)

    async def check(self, service: str = "", **options: Any) -> int:
        answer = await self._unary(
            "/grpc.health.v1.Health/Check", HealthCheckRequest(service=service), HealthCheckResponse, **options
        )
        return int(answer.status)

    async def health(self) -> common.HealthResponse:
        return await self.call("Health", common.HealthRequest(), common.HealthResponse)  # type: ignore[no-any-return]

    def call(self, method: str, message: Any, answer: Any, **options: Any) -> Any:
        return self._unary(f"/switchyard.v1.{self._service}/{method}", message, answer, **options)

    def transcribe(self, request_id: str, **fields: Any) -> Any:
        options = {name: fields.pop(name) for name in ("timeout", "metadata") if name in fields}
        group = common.Group(
            id=fields.pop("group", request_id), size=fields.pop("size", 1), time_limit_ms=fields.pop("limit_ms", 0)
        )
        message = stt.TranscribeFileRequest(request_id=request_id, group=group, **{"audio": b"1234", **fields})
        return self.call("TranscribeFile", message, stt.TranscribeFileResponse, **options)

    async def progress(self, request_id: str, attempt: str = "") -> common.ProgressResponse:
        message = common.ProgressRequest(request_id=request_id, attempt=attempt)
        return await self.call("Progress", message, common.ProgressResponse)  # type: ignore[no-any-return]

    async def cancel(self, request_id: str, attempt: str = "") -> bool:
        message = common.CancelRequest(request_id=request_id, reason="client", attempt=attempt)
        return bool((await self.call("Cancel", message, common.CancelResponse)).acknowledged)

    async def upload(self, start: stt.TranscribeFileRequest, pieces: Sequence[bytes]) -> list[Any]:
        path = f"/switchyard.v1.{self._service}/TranscribeUpload"
        read = stt.TranscribeUploadResponse.FromString
        sent = [stt.TranscribeUploadRequest(start=start), *(stt.TranscribeUploadRequest(audio=one) for one in pieces)]

        async def messages() -> AsyncIterator[stt.TranscribeUploadRequest]:
            for one in sent:
                yield one

        call: Any = self._channel.stream_stream(path, lambda one: one.SerializeToString(), read)
        return [answer async for answer in call(messages())]


@asynccontextmanager
async def worker(engine: Engine, *args: str, service: str = "SpeechToText") -> AsyncIterator[Client]:
    """Ends by SIGTERM, unless the test has sent it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    options = worker_arguments().parse_args(["--model", "m", "--listen", address, *args])
    process = asyncio.ensure_future(run(engine, options))
    async with grpc.aio.insecure_channel(address) as channel:
        try:
            await asyncio.wait_for(channel.channel_ready(), 5)
            client = Client(channel, service)
            while not args and await client.check() != HealthCheckResponse.SERVING:
                await asyncio.sleep(0.01)
            yield client
        finally:
            if not process.done():
                os.kill(os.getpid(), signal.SIGTERM)
            while not args and not process.done():
                await asyncio.wait([process, asyncio.ensure_future(client.health())], timeout=0.05)
            await process


async def entered(engine: Scripted) -> None:
    """The device has taken the next batch."""
    await asyncio.to_thread(engine.entered.acquire)


def trailers(error: grpc.aio.AioRpcError) -> dict[str, str]:
    return {key: str(value) for key, value in error.trailing_metadata() or ()}

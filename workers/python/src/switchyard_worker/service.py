"""The gRPC services. Cancel, Health, deadlines and failures are the same for all three."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from switchyard.v1 import common_pb2 as common
from switchyard.v1 import generation_pb2 as generation
from switchyard.v1 import stt_pb2 as stt
from switchyard.v1 import tts_pb2 as tts

from .audio import FORMATS, RATE, encode
from .engine import BatchEngine, Engine, Generator, Synthesizer, Transcriber
from .errors import WorkerError, as_worker_error
from .micro_batcher import MicroBatcher
from .request import Request

T = TypeVar("T")
Context = grpc.aio.ServicerContext[Any, Any]
#: Largest message, both ways; and largest audio in pieces, which is held in memory.
MAX_MESSAGE_BYTES, MAX_UPLOAD_BYTES = 64 << 20, 1 << 30


class Service:
    #: Of the gRPC service, and of the engine's method that takes a batch.
    name: str
    batched: str

    def __init__(self, engine: Engine, model: str) -> None:
        self.engine, self.model = engine, model
        self.state = common.HealthResponse.STATE_STARTING
        self.calls: dict[str, Request[Any]] = {}
        #: Set while no call runs; set by a Health that reported the drain.
        self.idle, self.drain_reported = asyncio.Event(), asyncio.Event()
        self.idle.set()

    def start(self) -> None:
        """The engine has loaded."""
        if isinstance(self.engine, BatchEngine):
            self.batcher = MicroBatcher(self.engine, getattr(self.engine, self.batched))
        self.state = common.HealthResponse.STATE_READY

    async def serve(self, context: Context, request: Request[Any], work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs `work` as a task of its own: if the caller disconnects, the call is over when the engine has stopped."""
        timer: asyncio.TimerHandle | None = None
        try:
            self._accept(request)
            task = asyncio.ensure_future(work())
            task.add_done_callback(lambda done: self._ended(request, done))
            if (left_s := context.time_remaining()) is not None:
                late = WorkerError("inference_timeout", "The deadline of the call has passed.")
                timer = asyncio.get_running_loop().call_later(left_s, request.cancel, late)
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            request.cancel(WorkerError("request_cancelled", "The caller broke the call off."))
            raise
        except Exception as error:
            failure = as_worker_error(error)
            return await context.abort(failure.status, str(failure), failure.trailers)
        finally:
            if timer is not None:
                timer.cancel()

    def _accept(self, request: Request[Any]) -> None:
        if self.state == common.HealthResponse.STATE_STARTING:
            raise WorkerError("no_worker", "The worker is loading its model.")
        if self.state == common.HealthResponse.STATE_DRAINING:
            raise WorkerError("shutting_down", "The worker is shutting down.")
        if not request.id:
            raise WorkerError("missing_required_parameter", "request_id is empty.", "request_id")
        if request.id in self.calls:
            raise WorkerError("duplicate_request_id", f"Request {request.id} is still running on this worker.")
        self.calls[request.id] = request
        self.idle.clear()

    def _ended(self, request: Request[Any], task: asyncio.Future[Any]) -> None:
        _ = task.cancelled() or task.exception()
        del self.calls[request.id]
        if not self.calls:
            self.idle.set()

    async def cancel(self, message: common.CancelRequest, _context: Context) -> common.CancelResponse:
        if request := self._find(message):
            request.cancel(WorkerError("request_cancelled", f"The request was cancelled ({message.reason})."))
        return common.CancelResponse(acknowledged=request is not None)

    async def progress(self, message: common.ProgressRequest, _context: Context) -> common.ProgressResponse:
        request = self._find(message)
        return request.progress() if request else common.ProgressResponse()

    def _find(self, message: common.CancelRequest | common.ProgressRequest) -> Request[Any] | None:
        request = self.calls.get(message.request_id)
        return request if request and request.is_attempt(message.attempt) else None

    async def health(self, _message: common.HealthRequest, _context: Context) -> common.HealthResponse:
        if self.state == common.HealthResponse.STATE_DRAINING:
            self.drain_reported.set()
        names = ("device", "revision", "kind", "max_batch", "max_concurrent", "capabilities", "languages")
        return common.HealthResponse(
            state=self.state,
            model=self.model,
            engine=self.engine.name,
            in_flight=len(self.calls),
            max_message_bytes=MAX_MESSAGE_BYTES,
            **{name: getattr(self.engine, name) for name in names},
        )

    def methods(self) -> dict[str, Any]:
        return {
            "Cancel": _unary(self.cancel, common.CancelRequest),
            "Progress": _unary(self.progress, common.ProgressRequest),
            "Health": _unary(self.health, common.HealthRequest),
        }


class SpeechToText(Service):
    name, batched = "SpeechToText", "transcribe"
    engine: Transcriber

    def methods(self) -> dict[str, Any]:
        upload = grpc.stream_stream_rpc_method_handler(self.upload, stt.TranscribeUploadRequest.FromString, _bytes)
        file = _unary(self.file, stt.TranscribeFileRequest)
        return {**super().methods(), "TranscribeFile": file, "TranscribeUpload": upload}

    async def file(self, message: stt.TranscribeFileRequest, context: Context) -> stt.TranscribeFileResponse:
        request = Request(message)
        return await self.serve(context, request, lambda: self._transcribe(request))

    async def upload(self, pieces: AsyncIterator[stt.TranscribeUploadRequest], context: Context) -> None:
        first = await anext(aiter(pieces), stt.TranscribeUploadRequest())
        request = Request(first.start)

        async def work() -> None:
            await request.unless_cancelled(asyncio.ensure_future(_receive(request, pieces)))
            sent = 0
            async for part in _parts(request, self._transcribe(request)):
                for segment in [part] if isinstance(part, stt.SegmentDone) else _segments(part)[sent:]:
                    await context.write(stt.TranscribeUploadResponse(segment=segment))
                    sent += 1
                if isinstance(part, stt.TranscribeFileResponse):
                    await context.write(stt.TranscribeUploadResponse(done=part))

        await self.serve(context, request, work)

    async def _transcribe(self, request: Request[stt.TranscribeFileRequest]) -> stt.TranscribeFileResponse:
        if request.message.audio_url:
            raise WorkerError("file_url_refused", "This worker fetches no audio by URL.", "file_url")
        return await self.engine.handle(request, lambda work: self.batcher.run(request, work))


class TextToSpeech(Service):
    name, batched = "TextToSpeech", "synthesize"
    engine: Synthesizer

    def methods(self) -> dict[str, Any]:
        return {**super().methods(), "Synthesize": _streaming(self.synthesize, tts.SynthesizeRequest)}

    async def synthesize(self, message: tts.SynthesizeRequest, context: Context) -> None:
        request = Request(message)
        await self.serve(context, request, lambda: self._speak(request, context))

    async def _speak(self, request: Request[tts.SynthesizeRequest], context: Context) -> None:
        target, rate, done = request.message.format, self.engine.sample_rate, tts.SynthesisDone()
        if target not in FORMATS:
            raise WorkerError("invalid_value", f"Unknown format {target!r}.", "response_format")

        async def pcm() -> AsyncIterator[bytes]:
            async for part in _parts(request, self.batcher.run(request, request)):
                samples, execution = part if isinstance(part, tuple) else (part, None)
                done.execution.MergeFrom(execution or common.Execution())
                done.duration_s += len(samples) / 2 / rate
                yield samples

        header = tts.AudioHeader(content_type=FORMATS[target][0], sample_rate=RATE)
        await context.write(tts.SynthesizeResponse(header=header))
        async for audio in encode(pcm(), rate, target):
            await context.write(tts.SynthesizeResponse(audio=audio))
        await context.write(tts.SynthesizeResponse(done=done))


class TextGeneration(Service):
    name = "TextGeneration"
    engine: Generator

    def methods(self) -> dict[str, Any]:
        return {**super().methods(), "Generate": _streaming(self.generate, generation.GenerateRequest)}

    async def generate(self, message: generation.GenerateRequest, context: Context) -> None:
        request = Request(message)
        await self.serve(context, request, lambda: self._generated(request, context))

    async def _generated(self, request: Request[generation.GenerateRequest], context: Context) -> None:
        await request.unless_cancelled(asyncio.ensure_future(self._generate(request, context)))

    async def _generate(self, request: Request[generation.GenerateRequest], context: Context) -> None:
        started = time.monotonic()
        request.device.append((started, request.limit_ms))
        async for part in self.engine.generate(request):
            if isinstance(part, generation.GenerationDone):
                part.execution.device_ms = 1000 * (time.monotonic() - started)
                await context.write(generation.GenerateResponse(done=part))
            else:
                await context.write(generation.GenerateResponse(chunk=part))


SERVICES: dict[str, Callable[[Any, str], Service]] = {"stt": SpeechToText, "tts": TextToSpeech, "llm": TextGeneration}


async def _receive(request: Request[Any], pieces: AsyncIterator[stt.TranscribeUploadRequest]) -> None:
    audio = bytearray()
    async for piece in pieces:
        audio += piece.audio
        if len(audio) > MAX_UPLOAD_BYTES:
            raise WorkerError("file_too_large", f"The audio has more than {MAX_UPLOAD_BYTES} bytes.", "file")
    request.message.audio = bytes(audio)


async def _parts(request: Request[Any], work: Coroutine[Any, Any, Any]) -> AsyncIterator[Any]:
    """What the engine emits while `work` runs, then the result of `work`."""
    parts: asyncio.Queue[Any] = asyncio.Queue()
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
    request.emit = lambda part: loop.call_soon_threadsafe(parts.put_nowait, part)
    # A failure after the caller has hung up is no error of the program.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    task.add_done_callback(parts.put_nowait)
    while (part := await parts.get()) is not task:
        yield part
    yield task.result()


def _segments(answer: stt.TranscribeFileResponse) -> Sequence[stt.SegmentDone]:
    """The words of each by their times."""
    words = [[word for word in answer.words if part.start <= word.start < part.end] for part in answer.segments]
    return [stt.SegmentDone(segment=part, words=own) for part, own in zip(answer.segments, words, strict=True)]


def _bytes(message: Message) -> bytes:
    return message.SerializeToString()


def _unary(method: Any, request: type[Message]) -> Any:
    return grpc.unary_unary_rpc_method_handler(method, request.FromString, _bytes)


def _streaming(method: Any, request: type[Message]) -> Any:
    return grpc.unary_stream_rpc_method_handler(method, request.FromString, _bytes)

"""Requests as windows, and windows as one engine call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from faster_whisper.vad import VadOptions

from switchyard.v1.common_pb2 import Execution
from switchyard.v1.stt_pb2 import TASK_TRANSLATE, TranscribeFileRequest, TranscribeFileResponse

from ..engine import Device, Transcriber, transcribed
from ..errors import WorkerError
from ..request import Request
from .audio_file import RATE, Samples, decoded, quiet_cuts, speech_cuts
from .whisper import Heard, Settings, Task, Whisper

Call = Request[TranscribeFileRequest]
#: Shorter audio holds no word.
SHORTEST_S = 0.1


@dataclass(eq=False)
class Window:
    call: Call
    samples: Samples
    offset: float
    language: str | None
    before: Sequence[int]
    temperature: float
    #: A `Task`, which keeps what the encoder made of it for its retries.
    prepared: Any = None


@dataclass
class Executions:
    """Of one request: each engine call counts once, however many of its windows it computed."""

    windows: int = 0
    sum: Execution = field(default_factory=Execution)
    calls: dict[str, Execution] = field(default_factory=dict)

    def add(self, one: Execution) -> None:
        self.windows += 1
        self.sum.prep_ms += one.prep_ms
        self.sum.ready_wait_ms += one.ready_wait_ms
        self.calls[one.batch_id] = one

    def total(self) -> Execution:
        calls = list(self.calls.values())
        self.sum.ready_wait_ms /= max(1, self.windows)
        self.sum.device_ms = sum(call.device_ms for call in calls)
        self.sum.batch_size = max(1, round(sum(call.batch_size for call in calls) / max(1, len(calls))))
        self.sum.batch_id = calls[-1].batch_id if calls else ""
        return self.sum


class WhisperEngine(Transcriber):
    name = "ctranslate2"

    def __init__(self, settings: Settings, *, retries: int, max_batch: int, vad: bool) -> None:
        self._settings, self._retries, self._vad = settings, retries, vad
        self.max_batch, self.device = max_batch, settings.device

    def load(self) -> None:
        """Computes a window before the worker is ready, so that a model that cannot is found now."""
        self._whisper = whisper = Whisper(self._settings)
        self.revision, self.languages = whisper.revision, whisper.languages
        self.name = f"ctranslate2 {whisper.compute_type}"
        able = ["transcribe", "word_timestamps", "prompt", "hot_words", "temperature", "logprobs"]
        self.capabilities = [*able, "translate"] if whisper.is_multilingual else able
        silence, started = whisper.features(np.zeros(RATE, np.int16)), time.monotonic()
        whisper.hear([Task(silence, 1.0, None if whisper.is_multilingual else "en")])
        self.call_s = time.monotonic() - started

    def prepare(self, window: Window) -> None:
        window.prepared = window.prepared or self._task(window)

    def transcribe(self, batch: Sequence[Window]) -> list[Any]:
        """A window whose request was cancelled while it waited costs nothing."""
        outcomes: list[Any] = [None] * len(batch)
        live = [at for at, window in enumerate(batch) if not window.call.cancelled]
        heard = self._whisper.hear([batch[at].prepared for at in live]) if live else []
        for at, one in zip(live, heard, strict=True):
            outcomes[at] = one
        return outcomes

    def summary(self, window: Window, result: Any) -> str:
        return transcribed(result.language if result else "", len(window.samples) / RATE)

    def _task(self, window: Window) -> Task:
        message = window.call.message
        return Task(
            features=self._whisper.features(window.samples, message.draft),
            duration=len(window.samples) / RATE,
            language=window.language,
            translate=message.task == TASK_TRANSLATE,
            before=window.before,
            temperature=window.temperature,
            words=message.word_timestamps,
            logprobs=message.logprobs,
            is_cancelled=lambda: window.call.cancelled,
        )

    async def handle(self, request: Call, device: Device) -> TranscribeFileResponse:
        message, language = request.message, self._language(request.message)
        before = self._whisper.tokens_before(message.prompt, message.hot_words)
        samples = await asyncio.to_thread(decoded, request)
        message.ClearField("audio")
        windows = [
            Window(request, samples[start:end], start / RATE, language, before, message.temperature)
            for start, end in await asyncio.to_thread(self._cuts, request, samples)
            if end - start >= SHORTEST_S * RATE
        ]
        answer = TranscribeFileResponse(language=language or "", duration_s=len(samples) / RATE)
        executions = Executions()
        # The first window finds the language of all.
        first = windows[: 1 if language is None else len(windows)]
        await self._hear(first, device, answer, executions)
        for window in windows[len(first) :]:
            window.language = answer.language
        await self._hear(windows[len(first) :], device, answer, executions)
        answer.text = "".join(segment.text for segment in answer.segments).strip()
        answer.execution.CopyFrom(executions.total())
        return answer

    async def _hear(
        self, windows: Sequence[Window], device: Device, answer: TranscribeFileResponse, executions: Executions
    ) -> None:
        """A group on the device and one ahead at most; into the answer in order of time."""
        ahead = asyncio.Semaphore(2 * self.max_batch)

        async def heard(window: Window) -> Heard:
            async with ahead:
                return await self._settled(window, device, executions)

        tasks = [asyncio.ensure_future(heard(window)) for window in windows]
        try:
            for window, task in zip(windows, tasks, strict=True):
                add(window, await task, answer)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _settled(self, window: Window, device: Device, executions: Executions) -> Heard:
        """A doubtful result is computed again, and the best stays; not with a temperature. Of a draft nothing stays."""
        tries: list[Heard] = []
        while True:
            heard, execution = await device(window)
            executions.add(execution)
            tries.append(heard)
            if heard.doubtful and window.call.message.draft:
                return Heard(heard.language)
            retries = 0 if window.temperature else self._retries
            if not heard.doubtful or len(tries) > retries:
                # A long file has many windows.
                window.prepared = None
                return max(tries, key=lambda one: one.rank)
            window.prepared.retry = len(tries)

    def _cuts(self, request: Call, samples: Samples) -> list[tuple[int, int]]:
        window, message = self._whisper.window_samples, request.message
        if not self._vad and not message.HasField("chunking"):
            return quiet_cuts(samples, window)
        options = VadOptions(min_silence_duration_ms=500)
        if message.HasField("chunking"):
            options.threshold = message.chunking.threshold or options.threshold
            options.min_silence_duration_ms = message.chunking.silence_duration_ms
            options.speech_pad_ms = message.chunking.prefix_padding_ms
        return speech_cuts(samples, window, options)

    def _language(self, message: TranscribeFileRequest) -> str | None:
        """Of a BCP-47 tag the first part; None: to be found out."""
        if message.task == TASK_TRANSLATE and not self._whisper.is_multilingual:
            raise WorkerError("unsupported_task", "This model knows English only; it cannot translate.")
        code = message.language.lower().partition("-")[0]
        if code and code not in self.languages:
            raise WorkerError(
                "invalid_value", f"The model does not know the language {message.language!r}.", "language"
            )
        return code or (None if self._whisper.is_multilingual else "en")


def add(window: Window, heard: Heard, answer: TranscribeFileResponse) -> None:
    """The segments of a window are final, and go out at once."""
    answer.language = answer.language or heard.language
    for done in heard.segments:
        done.segment.id = len(answer.segments)
        done.segment.start += window.offset
        done.segment.end += window.offset
        for word in done.words:
            word.start += window.offset
            word.end += window.offset
        answer.segments.append(done.segment)
        answer.words.extend(done.words)
        answer.logprobs.extend(done.logprobs)
        window.call.emit(done)

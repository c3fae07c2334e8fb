"""The Whisper worker on a generated model of random weights: windows of 2 s, four words, four languages."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest

pytest.importorskip("faster_whisper")
pytest.importorskip("onnx")

import ctranslate2
import numpy as np
from clips import rhythm, wav
from harness import Client, trailers, worker
from whisper_models import FIXTURES, convert

from switchyard.v1 import stt_pb2 as stt
from switchyard_worker.ctranslate2 import whisper
from switchyard_worker.ctranslate2.audio_file import RATE, quiet_cuts
from switchyard_worker.ctranslate2.engine import WhisperEngine
from switchyard_worker.ctranslate2.whisper import Heard, Settings, Task, Whisper


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return convert(FIXTURES / "random", tmp_path_factory.mktemp("models") / "random")


def engine(folder: Path, retries: int = 0) -> WhisperEngine:
    return WhisperEngine(Settings(folder, threads=1), retries=retries, max_batch=8, vad=False)


def on_model(folder: Path, test: Callable[[Client], Awaitable[None]], **options: Any) -> None:
    on(engine(folder, **options), test)


def on(engine: WhisperEngine, test: Callable[[Client], Awaitable[None]]) -> None:
    async def body() -> None:
        async with worker(engine) as client:
            await test(client)

    asyncio.run(body())


def test_features_are_those_of_the_public_extractor(folder: Path) -> None:
    reference = json.loads((FIXTURES / "mel-reference.json").read_text())
    n = np.arange(reference["samples"], dtype=np.int64)
    phase = (n * n // 16 + 37 * n) % 65536
    chirp = ((np.abs(phase - 32768) - 16384) * (1 + (n // 800) % 16) // 17).astype(np.int16)
    made = Whisper(Settings(folder, threads=1)).features(chirp)[::7, ::13]
    assert np.abs(made - np.array(reference["mels"]["80"]["values"])).max() < 2e-4


def texts(heard: Sequence[Heard | None]) -> list[tuple[str, str]]:
    return [(one.language, "".join(done.segment.text for done in one.segments)) for one in heard if one]


def test_eight_in_one_call_are_heard_as_each_alone(folder: Path) -> None:
    whisper = Whisper(Settings(folder, threads=1))
    tasks = [Task(whisper.features(rhythm(0.5 + 0.2 * at, at + 1)), 0.5 + 0.2 * at, "en") for at in range(8)]
    together = texts(whisper.hear(tasks))
    assert together == [texts(whisper.hear([task]))[0] for task in tasks]
    assert len(set(together)) > 4


@pytest.mark.parametrize(("encoded", "asked", "heard"), [(0, 1, 0), (1, 2, 0), (2, 3, 0), (2, 4, 0), (2, 5, 2)])
def test_a_call_that_everybody_left_ends_between_windows_language_and_decoder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, encoded: int, asked: int, heard: int
) -> None:
    model, calls = Whisper(Settings(folder, threads=1)), []
    encode = model._model.encode
    monkeypatch.setattr(model._model, "encode", lambda features: calls.append(1) or encode(features))
    questions: list[int] = []
    leaves = [lambda: questions.append(1) or len(questions) >= asked, lambda: True]
    tasks = [Task(model.features(rhythm(0.5, 5)), 0.5, None, is_cancelled=is_cancelled) for is_cancelled in leaves]
    answers = model.hear(tasks)
    assert (len(calls), sum(one is not None for one in answers)) == (encoded, heard)


def test_int8_hears_nearly_what_float32_hears(folder: Path) -> None:
    exact, quantised = Whisper(Settings(folder, threads=1)), Whisper(Settings(folder, compute_type="int8", threads=1))
    assert (exact.compute_type, quantised.compute_type) == ("float32", "int8_float32")
    features = [exact.features(rhythm(2, seed)) for seed in range(1, 17)]
    both = [texts(model.hear([Task(one, 2.0, "en") for one in features])) for model in (exact, quantised)]
    first = [[text.split()[:1] for _, text in one] for one in both]
    assert sum(one == two for one, two in zip(*first, strict=True)) >= 12


def test_prompts_languages_tasks_and_temperatures_may_differ_within_a_call(folder: Path) -> None:
    whisper = Whisper(Settings(folder, threads=1))
    audio = whisper.features(rhythm(1.5, 3))
    tasks = [
        Task(audio, 1.5, "de"),
        Task(audio, 1.5, None),
        Task(audio, 1.5, "en", before=whisper.tokens_before("red green blue", ())),
        Task(audio, 1.5, "fr", words=True),
        Task(audio, 1.5, None, words=True, logprobs=True),
        Task(audio, 1.5, "en", translate=True),
        Task(audio, 1.5, "en", before=whisper.tokens_before("", ["black"])),
    ]
    together = texts(whisper.hear(tasks))
    assert together == [texts(whisper.hear([task]))[0] for task in tasks]
    assert together[0][0] == "de" and together[3][0] == "fr"
    assert len(set(together)) > 3


def test_callers_share_engine_calls(folder: Path) -> None:
    async def test(client: Client) -> None:
        audio = wav(rhythm(2, 3))
        calls = [client.transcribe(str(at), audio=audio, language="en") for at in range(64)]
        answers = await asyncio.gather(*calls)
        assert len({one.text for one in answers}) == 1
        assert max(one.execution.batch_size for one in answers) > 1

    on_model(folder, test)


def test_words_have_times_within_their_segments_and_spell_the_text(folder: Path) -> None:
    async def test(client: Client) -> None:
        answer = await client.transcribe("w", audio=wav(rhythm(5, 5)), language="en", word_timestamps=True)
        assert " ".join(word.word for word in answer.words) == " ".join(answer.text.split())
        starts = [word.start for word in answer.words]
        assert starts == sorted(starts) and len(starts) > 0
        assert all(0 <= word.start <= word.end <= 5.1 for word in answer.words)

    on_model(folder, test)


def test_log_probabilities_name_every_token(folder: Path) -> None:
    async def test(client: Client) -> None:
        answer = await client.transcribe("l", audio=wav(rhythm(1, 5)), language="en", logprobs=True)
        assert "".join(one.token for one in answer.logprobs) == "".join(one.text for one in answer.segments)
        assert all(-20 < one.logprob <= 0 for one in answer.logprobs)

    on_model(folder, test)


class Patient(WhisperEngine):
    """Its first call waits until more windows than fit into one call are prepared."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Settings(folder, threads=1), retries=0, max_batch=8, vad=False)
        self.prepared, self.begun = threading.Semaphore(0), False

    def prepare(self, window: Any) -> None:
        super().prepare(window)
        self.prepared.release()

    def transcribe(self, batch: Sequence[Any]) -> list[Any]:
        for _ in range(0 if self.begun else 9):
            self.prepared.acquire(timeout=60)
        self.begun = True
        return super().transcribe(batch)


def test_long_audio_is_cut_into_windows_that_share_engine_calls(folder: Path) -> None:
    async def test(client: Client) -> None:
        start = stt.TranscribeFileRequest(request_id="long", language="en")
        answers = await client.upload(start, [wav(rhythm(30, 7))])
        done = answers[-1].done
        segments = [answer.segment.segment for answer in answers[:-1]]
        assert segments == list(done.segments)
        assert [segment.id for segment in segments] == list(range(len(segments)))
        times = [time for segment in segments for time in (segment.start, segment.end)]
        assert all(before <= after + 1e-6 for before, after in itertools.pairwise([0, *times, 30]))
        assert done.duration_s == 30
        assert done.execution.batch_size > 1

    on(Patient(folder), test)


def test_silence_holds_no_speech_for_the_voice_activity_detection(folder: Path) -> None:
    async def test(client: Client) -> None:
        chunking = stt.VoiceActivity(threshold=0.5, silence_duration_ms=500)
        silence = wav(np.zeros(5 * RATE, np.int16))
        answer = await client.transcribe("v", audio=silence, language="en", chunking=chunking)
        assert (answer.text, len(answer.segments), answer.duration_s) == ("", 0, 5)

    on_model(folder, test)


def test_a_doubtful_window_is_decoded_again_to_the_same_text_each_time(folder: Path) -> None:
    async def test(client: Client) -> None:
        once = await client.transcribe("one", audio=wav(rhythm(1, 5)), language="en")
        calls = [client.transcribe(str(at), audio=wav(rhythm(1, 5)), language="en") for at in range(20)]
        answers = await asyncio.gather(*calls)
        assert {one.text for one in answers} == {once.text}
        assert once.segments[0].temperature == 0
        told = await client.transcribe("u", audio=wav(rhythm(1, 5)), language="en", temperature=0.7)
        assert told.segments[0].temperature == pytest.approx(0.7)

    on_model(folder, test, retries=2)


def test_a_draft_is_computed_over_a_part_of_the_window_and_never_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whisper, "DRAFT_FRAMES", 100)
    monkeypatch.setattr(whisper, "DRAFT_REST", 10)
    model, half = Whisper(Settings(folder, threads=1)), rhythm(0.5, 5)
    assert [model.features(half, draft).shape[1] for draft in (True, False)] == [100, 200]
    assert len(model.hear([Task(model.features(half, draft), 0.5, "en") for draft in (True, False)])) == 2

    async def test(client: Client) -> None:
        tries: list[int] = []
        heard = Heard("en", avg_logprob=-1.4)
        monkeypatch.setattr(Whisper, "hear", lambda _, tasks: tries.append(len(tasks)) or [heard] * len(tasks))
        answer = await client.transcribe("d", audio=wav(half), language="en", draft=True)
        assert (tries, answer.text) == ([1], "")
        await client.transcribe("f", audio=wav(half), language="en")
        assert tries == [1] * 4

    on_model(folder, test, retries=2)


def test_what_does_not_end_is_cut_and_doubtful_and_a_retry_does_not_encode_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Whisper(Settings(folder, threads=1))
    task = Task(model.features(rhythm(1, 5)), 1.0, "en")
    whole = texts(model.hear([task]))[0][1].split()
    assert len(whole) > 2
    monkeypatch.setattr(whisper, "LEAST_TOKENS", 1)
    monkeypatch.setattr(whisper, "TOKENS_PER_S", 1)
    monkeypatch.setattr(model._model, "encode", None)
    task.retry = 1
    cut = model.hear([task])[0]
    assert cut is not None and cut.doubtful
    assert texts([cut])[0][1].split() == whole[: len(texts([cut])[0][1].split())]
    assert len(texts([cut])[0][1].split()) <= 2


def test_of_several_tries_the_best_stays() -> None:
    looped, unlikely = Heard("en", avg_logprob=-0.1, repetitive=True), Heard("en", avg_logprob=-1.4)
    likelier = Heard("en", avg_logprob=-1.2)
    assert [one.doubtful for one in (looped, unlikely, likelier)] == [True, True, True]
    assert max([looped, likelier, unlikely], key=lambda one: one.rank) is likelier


@pytest.mark.parametrize(
    "audio, code",
    [
        (b"not audio at all", "invalid_audio"),
        (b"#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n", "invalid_audio"),
        (wav(np.zeros(0, np.int16)), "audio_too_short"),
    ],
)
def test_refuses_what_is_no_audio(folder: Path, audio: bytes, code: str) -> None:
    async def test(client: Client) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.transcribe("x", audio=audio)
        assert trailers(caught.value) == {"switchyard-code": code, "switchyard-param": "file"}

    on_model(folder, test)


def test_refuses_a_language_that_the_model_does_not_know(folder: Path) -> None:
    async def test(client: Client) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.transcribe("x", audio=wav(rhythm(1, 1)), language="cy")
        assert trailers(caught.value) == {"switchyard-code": "invalid_value", "switchyard-param": "language"}
        assert (await client.transcribe("y", audio=wav(rhythm(1, 1)), language="de-AT")).language == "de"

    on_model(folder, test)


def test_resamples_and_mixes_down(folder: Path) -> None:
    async def test(client: Client) -> None:
        answer = await client.transcribe("r", audio=wav(rhythm(2, 3), rate=8000), language="en")
        assert answer.duration_s == pytest.approx(4, abs=0.01)

    on_model(folder, test)


def test_a_broken_folder_is_named(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no model\.bin"):
        engine(tmp_path).load()
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes()[:5000] if file.suffix == ".bin" else file.read_bytes())
    with pytest.raises(
        RuntimeError, match=r"does not load on cpu \(.*invalid payload size\); see switchyard models check"
    ):
        engine(tmp_path).load()


@pytest.mark.skipif(ctranslate2.get_cuda_device_count() > 0, reason="there is a GPU")
def test_a_missing_gpu_is_named(folder: Path) -> None:
    with pytest.raises(RuntimeError, match=r"does not load on cuda:0 \(CUDA .*\); see switchyard gpu check"):
        WhisperEngine(Settings(folder, "cuda:0"), retries=0, max_batch=1, vad=False).load()


@pytest.mark.parametrize("seconds, pauses", [(31, []), (100, [20, 50, 55]), (29, []), (300, [])])
def test_windows_cover_everything_and_end_in_pauses(seconds: int, pauses: list[int]) -> None:
    samples = rhythm(seconds, 13)
    for pause in pauses:
        samples[pause * RATE : pause * RATE + RATE // 2] = 0
    cuts = quiet_cuts(samples, 30 * RATE)
    assert cuts[0][0] == 0 and cuts[-1][1] == len(samples)
    assert all(end == start for (_, end), (start, _) in itertools.pairwise(cuts))
    assert all(0 < end - start <= 30 * RATE for start, end in cuts)
    for pause in pauses[:1]:
        assert any(pause * RATE <= end <= pause * RATE + RATE // 2 for _, end in cuts)

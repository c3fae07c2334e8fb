"""One Whisper model: prompts, one `generate` for many windows, and what its tokens say."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import numpy.typing as npt
from faster_whisper import WhisperModel
from faster_whisper.tokenizer import _LANGUAGE_CODES, Tokenizer
from faster_whisper.transcribe import merge_punctuations

from switchyard.v1.stt_pb2 import Segment, SegmentDone, TokenLogprob, Word

from .audio_file import Samples, as_float
from .cuda_libraries import load_cuda_libraries

Features = npt.NDArray[np.float32]
#: Seconds of one timestamp token.
TICK_S = 0.02
#: Frames: a draft is computed over a multiple of 5 s that leaves 1 s of silence. 5 s cost an eighth of 30 s.
DRAFT_FRAMES, DRAFT_REST = 500, 100
#: The most tokens of a window, and of each second of it: what repeats itself ends sooner. Three times as many a second
#: as openai-whisper decodes of 30 s.
LEAST_TOKENS, TOKENS_PER_S = 20, 25
#: As openai-whisper: a window that looks worse is decoded again.
WORST_LOGPROB, MOST_REPETITIVE, SILENCE = -1.0, 2.4, 0.6
LOWEST_LOGIT = -1e30
# ruff: noqa: RUF001
PREPENDED, APPENDED = "\"'“¿([{-", "\"'.。,，!！?？:：”)]}、"


@dataclass(frozen=True)
class Decoding:
    beam_size: int
    #: Tokens of a phrase that may not come twice; 0: any may.
    no_repeat_ngram_size: int = 0


#: How a doubtful window is decoded again, one after the other. Not by drawing at a temperature: CTranslate2's generator
#: of random numbers cannot be seeded again, and the same audio gave another text each time.
RETRIES = (Decoding(5), Decoding(5, 4))


@dataclass(frozen=True)
class Settings:
    path: Path
    device: str = "cpu"
    compute_type: str = "default"
    threads: int = 0
    beam_size: int = 1


@dataclass
class Task:
    """What one window is to become; windows with equal `shape` share a `generate`."""

    features: Features
    duration: float
    #: None: found out.
    language: str | None
    translate: bool = False
    #: Tokens of prompt and hot words.
    before: Sequence[int] = ()
    temperature: float = 0.0
    #: How often it was decoded before.
    retry: int = 0
    words: bool = False
    logprobs: bool = False
    #: Nobody wants it any more. Called from the thread that computes.
    is_cancelled: Callable[[], bool] = lambda: False
    #: What the encoder made of `features`, on a CPU: a retry does not compute it again.
    encoded: Any = None

    @property
    def shape(self) -> tuple[Any, ...]:
        """The start token must be at the same place; one temperature per call; alignment has one start sequence. Beams
        that are cut depend on where."""
        aligned = (self.language, self.translate) if self.words else ()
        form = (self.features.shape[1], self.most_tokens if self.retry else 0)
        return (len(self.before), self.temperature, self.retry, self.words, self.logprobs, aligned, form)

    @property
    def most_tokens(self) -> int:
        return LEAST_TOKENS + round(TOKENS_PER_S * self.duration)


@dataclass
class Heard:
    language: str
    segments: list[SegmentDone] = field(default_factory=list)
    avg_logprob: float = 0.0
    #: It says the same again and again, or does not end.
    repetitive: bool = False

    @property
    def doubtful(self) -> bool:
        """It looks bad: decoded in another way it may be better."""
        return self.repetitive or self.avg_logprob < WORST_LOGPROB

    @property
    def rank(self) -> tuple[bool, float]:
        """The largest is the best."""
        return (not self.repetitive, self.avg_logprob)


class _Abandoned(Exception):
    """All windows of a call were cancelled while it ran."""


class Whisper:
    def __init__(self, settings: Settings) -> None:
        check_folder(settings.path)
        name, _, index = settings.device.partition(":")
        if name != "cpu":
            load_cuda_libraries()
        try:
            self._model = WhisperModel(
                str(settings.path),
                device=name,
                device_index=int(index or 0),
                compute_type=settings.compute_type,
                cpu_threads=settings.threads,
                local_files_only=True,
            )
        except (RuntimeError, ValueError) as error:
            check = "switchyard models check" if name == "cpu" else "switchyard gpu check"
            raise RuntimeError(f"{settings.path} does not load on {settings.device} ({error}); see {check}") from error
        self._beam_size = settings.beam_size
        self._max_length = _max_length(settings.path)
        extractor = self._model.feature_extractor
        self.window_samples: int = extractor.n_samples
        self._frames: int = extractor.nb_max_frames
        self.compute_type: str = self._model.model.compute_type
        self.is_multilingual: bool = self._model.model.is_multilingual
        known = [code for code in _LANGUAGE_CODES if self._model.hf_tokenizer.token_to_id(f"<|{code}|>") is not None]
        self.languages: list[str] = known if self.is_multilingual else ["en"]
        self._tokenizers: dict[tuple[str, bool], Tokenizer] = {}
        self.revision = _revision(settings.path)

    def features(self, samples: Samples, draft: bool = False) -> Features:
        """Log-mel of a whole window, or of as much as a draft needs; its silent rest has one value."""
        audio = np.pad(as_float(samples), (0, min(400, self.window_samples - len(samples))))
        audio = np.pad(audio, (0, max(0, 1200 - len(audio))))
        heard = self._model.feature_extractor(audio, padding=0)[:, : self._frames]
        silence = (max(-10.0, 4 * float(heard.max()) - 12.0) + 4.0) / 4.0
        steps = -(-(heard.shape[1] + DRAFT_REST) // DRAFT_FRAMES)
        frames = min(self._frames, steps * DRAFT_FRAMES) if draft else self._frames
        whole = np.full((heard.shape[0], frames), silence, np.float32)
        whole[:, : heard.shape[1]] = heard
        return whole

    def tokens_before(self, prompt: str, hot_words: Sequence[str]) -> list[int]:
        """Hot words and prompt as text that came before: the end of the prompt, and the beginning of the hot words."""
        most = self._max_length // 2 - 1
        encode = self._tokenizer(self.languages[0], False).encode
        hot = encode(" " + ", ".join(hot_words))[: most // 2] if hot_words else []
        said = encode(" " + prompt.strip())[-(most - len(hot)) :] if prompt.strip() else []
        return [*hot, *said]

    def hear(self, tasks: Sequence[Task]) -> list[Heard | None]:
        """One `generate` for all tasks of one shape. None: all of that shape were cancelled meanwhile.

        CTranslate2 stops no call that runs, so a cancel acts between encoder, language, decoder and times of words.
        """
        answers: dict[int, Heard | None] = {}
        shapes: dict[tuple[Any, ...], list[int]] = {}
        for at, task in enumerate(tasks):
            shapes.setdefault(task.shape, []).append(at)
        for members in shapes.values():
            try:
                heard: Sequence[Heard | None] = self._hear_alike([tasks[at] for at in members])
            except _Abandoned:
                heard = [None] * len(members)
            answers.update(zip(members, heard, strict=True))
        return [answers[at] for at in range(len(tasks))]

    def _hear_alike(self, tasks: Sequence[Task]) -> list[Heard]:
        try:
            return self._compute(tasks)
        except RuntimeError as error:
            if "out of memory" not in str(error) or len(tasks) == 1:
                raise
            half = len(tasks) // 2
            return [*self._hear_alike(tasks[:half]), *self._hear_alike(tasks[half:])]

    def _compute(self, tasks: Sequence[Task]) -> list[Heard]:
        first, model = tasks[0], self._model.model
        encoded = self._encoded(tasks)
        _check(tasks)
        languages = self._languages(tasks, encoded)
        _check(tasks)
        tokenizers = [self._tokenizer(code, task.translate) for code, task in zip(languages, tasks, strict=True)]
        decoding = RETRIES[first.retry - 1] if first.retry else Decoding(1 if first.temperature else self._beam_size)
        sampling = {"sampling_topk": 0, "sampling_temperature": first.temperature} if first.temperature else {}
        prompts = [_prompt(tokenizer, task.before) for tokenizer, task in zip(tokenizers, tasks, strict=True)]
        most = max(task.most_tokens for task in tasks)
        results = model.generate(
            encoded,
            prompts,
            beam_size=decoding.beam_size,
            no_repeat_ngram_size=decoding.no_repeat_ngram_size,
            # CTranslate2 decodes half of it at most, and what the prompt leaves.
            max_length=min(self._max_length, max(2 * most, len(prompts[0]) + most)),
            return_scores=True,
            return_no_speech_prob=True,
            return_logits_vocab=first.logprobs,
            **sampling,
        )
        rows = [
            Row(task, tokenizer, result) for task, tokenizer, result in zip(tasks, tokenizers, results, strict=True)
        ]
        if first.words:
            _check(tasks)
        alignments: Sequence[Any] = self._alignments(encoded, rows) if first.words else [None] * len(rows)
        return [row.heard(words) for row, words in zip(rows, alignments, strict=True)]

    def _encoded(self, tasks: Sequence[Task]) -> Any:
        """On a CPU one window after the other: together they take as long, and a cancel would act after all of them."""
        if self._model.model.device != "cpu":
            _check(tasks)
            return self._model.encode(np.stack([task.features for task in tasks]))
        for task in tasks:
            _check(tasks)
            if task.encoded is None:
                task.encoded = np.array(self._model.encode(task.features))
        return ctranslate2.StorageView.from_array(np.concatenate([task.encoded for task in tasks]))

    def _languages(self, tasks: Sequence[Task], encoded: Any) -> list[str]:
        if all(task.language is not None for task in tasks):
            return [task.language or "" for task in tasks]
        found = [probabilities[0][0][2:-2] for probabilities in self._model.model.detect_language(encoded)]
        return [task.language or code for task, code in zip(tasks, found, strict=True)]

    def _alignments(self, encoded: Any, rows: Sequence[Row]) -> list[list[dict[str, Any]]]:
        """Words with times for each row. Rows of one call were asked for in one language, or in none."""
        if len({row.tokenizer.language_code for row in rows}) > 1:
            alone = [self._model.encode(row.task.features) for row in rows]
            return [self._alignments(one, [row])[0] for one, row in zip(alone, rows, strict=True)]
        frames = [max(1, min(self._frames, round(100 * row.task.duration))) for row in rows]
        texts = [row.text_tokens for row in rows]
        found = self._model.find_alignment(rows[0].tokenizer, texts, encoded, frames)
        for words in found:
            merge_punctuations(words, PREPENDED, APPENDED)
        return list(found)

    def _tokenizer(self, language: str, translate: bool) -> Tokenizer:
        key = (language, translate)
        if key not in self._tokenizers:
            task = "translate" if translate else "transcribe"
            hugging_face = self._model.hf_tokenizer
            self._tokenizers[key] = Tokenizer(hugging_face, self.is_multilingual, task=task, language=language)
        return self._tokenizers[key]


class Row:
    """What one window was decoded to."""

    def __init__(self, task: Task, tokenizer: Tokenizer, result: Any) -> None:
        self.task, self.tokenizer, self._result = task, tokenizer, result
        self.tokens: list[int] = result.sequences_ids[0][: task.most_tokens]
        self.text_tokens = [token for token in self.tokens if token < tokenizer.eot]
        self.avg_logprob = result.scores[0] * len(self.tokens) / (len(self.tokens) + 1)

    def heard(self, words: list[dict[str, Any]] | None) -> Heard:
        text = self.tokenizer.decode(self.text_tokens).strip().encode()
        is_silence = self._result.no_speech_prob > SILENCE and self.avg_logprob < WORST_LOGPROB
        if is_silence or not text:
            return Heard(self.tokenizer.language_code)
        ratio = len(text) / len(zlib.compress(text))
        segments = [self._segment(*span, ratio) for span in self._spans()]
        if words is not None:
            _place_words(segments, words)
        if self.task.logprobs:
            _place_logprobs(segments, self._logprobs())
        endless = len(self.tokens) == self.task.most_tokens
        rank = -math.inf if endless else self.avg_logprob
        return Heard(self.tokenizer.language_code, segments, rank, endless or ratio > MOST_REPETITIVE)

    def _spans(self) -> list[tuple[float, float, list[int]]]:
        """Start, end and text tokens of each segment. Times lie within the window, and no text is without time."""
        spans: list[tuple[float, float, list[int]]] = []
        begin, start, tokens = self.tokenizer.timestamp_begin, 0.0, []
        for token in self.tokens:
            if token < self.tokenizer.eot:
                tokens.append(token)
            elif token >= begin:
                at = min((token - begin) * TICK_S, self.task.duration)
                if tokens:
                    spans.append((start, at, tokens))
                    tokens = []
                start = at
        if tokens:
            spans.append((start, self.task.duration, tokens))
        return _with_time(spans)

    def _segment(self, start: float, end: float, tokens: list[int], compression_ratio: float) -> SegmentDone:
        return SegmentDone(
            segment=Segment(
                start=start,
                end=end,
                text=self.tokenizer.decode(tokens),
                tokens=tokens,
                temperature=self.task.temperature,
                avg_logprob=self.avg_logprob,
                no_speech_prob=self._result.no_speech_prob,
                compression_ratio=compression_ratio,
            )
        )

    def _logprobs(self) -> list[TokenLogprob]:
        """Of the text tokens, as they were decoded."""
        found = []
        for token, logits in zip(self.tokens, self._result.logits[0], strict=False):
            if token >= self.tokenizer.eot:
                continue
            scores = np.array(logits.to_device(ctranslate2.Device.cpu), dtype=np.float32)
            scores = scores[scores > LOWEST_LOGIT] - scores[token]
            logprob = -float(np.log(np.exp(scores.astype(np.float64)).sum()))
            text = self.tokenizer.decode([token])
            found.append(TokenLogprob(token=text, logprob=min(0.0, logprob), bytes=text.encode()))
        return found


def _with_time(spans: list[tuple[float, float, list[int]]]) -> list[tuple[float, float, list[int]]]:
    """Text at a time beyond the end belongs to the segment before."""
    kept: list[tuple[float, float, list[int]]] = []
    for start, end, tokens in spans:
        if end > start or not kept:
            kept.append((start if end > start else 0.0, end, tokens))
        else:
            kept[-1] = (kept[-1][0], max(kept[-1][1], end), [*kept[-1][2], *tokens])
    return kept


def _place_words(segments: list[SegmentDone], words: list[dict[str, Any]]) -> None:
    """Words go to segments by their tokens, in order."""
    waiting = iter(words)
    for segment in segments:
        left = len(segment.segment.tokens)
        while left > 0 and (word := next(waiting, None)) is not None:
            left -= len(word["tokens"])
            if word["word"].strip():
                start, end = float(word["start"]), float(word["end"])
                sure = float(word["probability"])
                segment.words.append(Word(word=word["word"].strip(), start=start, end=end, confidence=sure))


def _place_logprobs(segments: list[SegmentDone], logprobs: list[TokenLogprob]) -> None:
    at = 0
    for segment in segments:
        count = len(segment.segment.tokens)
        segment.logprobs.extend(logprobs[at : at + count])
        at += count


def _check(tasks: Sequence[Task]) -> None:
    if all(task.is_cancelled() for task in tasks):
        raise _Abandoned


def _prompt(tokenizer: Tokenizer, before: Sequence[int]) -> list[int]:
    start: list[int] = tokenizer.sot_sequence
    return [tokenizer.sot_prev, *before, *start] if before else start


def check_folder(path: Path) -> None:
    """Raises with what is missing: the libraries below would try to download it, or name none of it."""
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is not a folder")
    for name in ("model.bin", "config.json", "tokenizer.json"):
        if not (path / name).is_file():
            raise FileNotFoundError(f"{path} has no {name}; it must be a Whisper model in CTranslate2's format")


def _max_length(path: Path) -> int:
    """Positions of the decoder: 448, unless a generation_config.json says less."""
    file = path / "generation_config.json"
    told = json.loads(file.read_text()).get("max_length") if file.is_file() else None
    return min(448, told or 448)


def _revision(path: Path) -> str:
    size = (path / "model.bin").stat().st_size
    return hashlib.sha256((path / "config.json").read_bytes() + str(size).encode()).hexdigest()[:12]

"""Audio that tests and benches make."""

from __future__ import annotations

import io
import os
import wave
from functools import cache
from typing import Any

import numpy as np

RATE = 16_000
Clip = np.ndarray[Any, np.dtype[np.int16]]


def rhythm(seconds: float, seed: int) -> Clip:
    """Noise with a rhythm of its own."""
    at = np.arange(round(seconds * RATE))
    noise = np.random.default_rng(seed).uniform(-4000, 4000, len(at))
    return (noise * np.abs(np.sin(at * seed / 3000))).astype(np.int16)


def speech(seconds: float, seed: int) -> Clip:
    """A part of the recording that BENCH_SPEECH names (a WAV file of 16 bits), at a place of its own; else a rhythm."""
    path = os.environ.get("BENCH_SPEECH")
    if path is None:
        return rhythm(seconds, seed)
    samples = recording(path)
    start = round(seed * 2.3 * RATE) % (len(samples) - round(seconds * RATE))
    return samples[start : start + round(seconds * RATE)]


@cache
def recording(path: str) -> Clip:
    with wave.open(path, "rb") as file:
        rate, samples = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), np.int16)
        if file.getnchannels() > 1:
            samples = samples.reshape(-1, file.getnchannels())[:, 0]
    at = np.arange(0, len(samples) - 1, rate / RATE)
    made: Clip = np.interp(at, np.arange(len(samples)), samples).astype(np.int16)
    return made


def wav(samples: Clip, rate: int = RATE) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(rate)
        written.writeframes(samples.tobytes())
    return file.getvalue()

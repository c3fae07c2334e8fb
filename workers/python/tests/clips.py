"""Audio that tests and benches make."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np

RATE = 16_000
Clip = np.ndarray[Any, np.dtype[np.int16]]


def rhythm(seconds: float, seed: int) -> Clip:
    """Noise with a rhythm of its own."""
    at = np.arange(round(seconds * RATE))
    noise = np.random.default_rng(seed).uniform(-4000, 4000, len(at))
    return (noise * np.abs(np.sin(at * seed / 3000))).astype(np.int16)


def wav(samples: Clip, rate: int = RATE) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(rate)
        written.writeframes(samples.tobytes())
    return file.getvalue()

"""Uploads as samples: decoding, and cutting into windows."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from faster_whisper.vad import VadOptions, get_speech_timestamps

from ..errors import WorkerError
from ..request import Request

Samples = npt.NDArray[np.int16]
RATE = 16_000
#: Longest audio, in seconds.
LONGEST_S = 4 * 3600
#: Containers of audio. Play lists, which could make the decoder read other files, are not among them.
CONTAINERS = "wav,w64,aiff,au,caf,mp3,aac,flac,ogg,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,asf,amr,mpeg,mpegts,ac3,avi"
#: Windows end in the quietest piece of this length.
PAUSE = 3 * RATE // 10


def decoded(request: Request[Any]) -> Samples:
    """Mono samples at 16 kHz. No header is trusted: samples are counted as they come."""
    file: bytes = request.message.audio
    most = RATE * min(LONGEST_S, 60 + len(file) // 20)
    pieces, count = [], 0
    try:
        for piece in _pieces(file):
            request.check()
            pieces.append(piece)
            count += len(piece)
            if count > most:
                raise WorkerError("file_too_large", f"The audio is longer than {most // RATE} s.", "file")
    except (av.FFmpegError, IndexError, ValueError) as error:
        raise WorkerError("invalid_audio", f"The file is not audio that can be decoded: {error}", "file") from error
    if count == 0:
        raise WorkerError("audio_too_short", "The audio holds no samples.", "file")
    return np.concatenate(pieces)


def _pieces(file: bytes) -> Iterator[Samples]:
    """Packet by packet, as ffmpeg's command decodes: a bad one is skipped, and what follows is heard."""
    options = {"format_whitelist": CONTAINERS, "protocol_whitelist": "pipe"}
    with av.open(io.BytesIO(file), mode="r", metadata_errors="ignore", options=options) as container:
        if not container.streams.audio:
            raise ValueError("it has no audio track")
        resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        shape: tuple[str, str, int] | None = None
        for frame in _frames(container, _track(container)):
            before, shape = shape, _shape(frame)
            if before not in (None, shape):
                # Joined files: what comes next has other channels or another rate.
                yield from map(_samples, resampler.resample(None))
                resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
            frame.pts = None
            yield from map(_samples, resampler.resample(frame))
        yield from map(_samples, resampler.resample(None))


def _track(container: Any) -> Any:
    """The one that a player would choose, by the rule of ffmpeg's command: the default one, then the most channels."""
    default = av.stream.Disposition.default
    return max(
        container.streams.audio, key=lambda track: (bool(track.disposition & default), track.channels, -track.index)
    )


def _frames(container: Any, track: Any) -> Iterator[av.AudioFrame]:
    """@raises av.FFmpegError: not one packet could be decoded."""
    heard = False
    last: Exception | None = None
    packets = container.demux(track)
    while True:
        try:
            packet = next(packets, None)
        except (av.FFmpegError, IndexError) as error:
            # What the container says cannot be read on.
            packet, last = None, error
        if packet is None:
            break
        try:
            frames = packet.decode()
        except (av.FFmpegError, IndexError, ValueError) as error:
            last = error
            continue
        heard = heard or len(frames) > 0
        yield from frames
    if not heard and last is not None:
        raise last


def _shape(frame: av.AudioFrame) -> tuple[str, str, int]:
    return (frame.format.name, frame.layout.name, frame.sample_rate)


def _samples(frame: av.AudioFrame) -> Samples:
    samples: Any = frame.to_ndarray()
    return samples.reshape(-1)  # type: ignore[no-any-return]


def quiet_cuts(samples: Samples, window: int) -> list[tuple[int, int]]:
    """Windows of at most `window` samples that cover everything; each ends in the quietest part of its second half."""
    cuts, start = [], 0
    while len(samples) - start > window:
        half = samples[start + window // 2 : start + window].astype(np.float32)
        pause = min(PAUSE, len(half) // 2)
        energy = _energies(half, pause)
        # The last of the quietest: fewer windows.
        quietest = len(energy) - 1 - int(np.argmin(energy[::-1]))
        end = start + window // 2 + quietest + pause // 2
        cuts.append((start, end))
        start = end
    return [*cuts, (start, len(samples))]


def _energies(signal: npt.NDArray[np.float32], length: int) -> npt.NDArray[np.float64]:
    """Of each piece of that length."""
    sums: npt.NDArray[np.float64] = np.concatenate([[0.0], np.cumsum(signal.astype(np.float64) ** 2)])
    return sums[length:] - sums[:-length]


def speech_cuts(samples: Samples, window: int, options: VadOptions) -> list[tuple[int, int]]:
    """Windows that hold all speech and as little else as possible: stretches of speech, joined while they fit."""
    options.max_speech_duration_s = window / RATE
    cuts: list[tuple[int, int]] = []
    for speech in get_speech_timestamps(as_float(samples), options):
        start, end = speech["start"], min(speech["end"], len(samples))
        if cuts and end - cuts[-1][0] <= window:
            cuts[-1] = (cuts[-1][0], end)
        else:
            cuts += [(start + low, start + high) for low, high in quiet_cuts(samples[start:end], window)]
    return cuts


def as_float(samples: Samples) -> npt.NDArray[np.float32]:
    return samples.astype(np.float32) / np.float32(32768)

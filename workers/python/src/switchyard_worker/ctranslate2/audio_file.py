"""Uploads as samples: decoding, and cutting into windows."""

from __future__ import annotations

import io
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import av
import av.filter
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
#: Filters that make two channels of any file: the mean of all, and the left one.
FILTERS = "aformat=sample_fmts=s16:channel_layouts=mono|stereo,pan=stereo|c0<c0+c1|c1=c0"
#: Samples of which the mean or the left channel is heard: 0.1 s.
BLOCK = RATE // 10
#: A mean with less than this part of the left channel's energy: the channels cancel out.
CANCELLED = 0.01
#: Windows end in the quietest piece of this length.
PAUSE = 3 * RATE // 10


def decoded(request: Request[Any]) -> Samples:
    """Mono samples at 16 kHz. No header is trusted: samples are counted as they come."""
    file: bytes = request.message.audio
    most = RATE * min(LONGEST_S, 60 + len(file) // 20)
    pieces, count = [], 0
    try:
        for piece in _mixed(_pieces(file)):
            request.check()
            pieces.append(piece)
            count += len(piece)
            if count > most:
                raise WorkerError("invalid_audio", f"The audio is longer than {most // RATE} s.", "file")
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
        graph: Any = None
        shape: tuple[str, str, int] | None = None
        for frame in _frames(container, _track(container)):
            before, shape = shape, _shape(frame)
            if before != shape:
                # The first, or joined files: what comes next has other channels or another rate.
                yield from _filtered(graph, None)
                graph = _graph(frame)
            frame.pts = None
            yield from _filtered(graph, frame)
        yield from _filtered(graph, None)


def _graph(frame: av.AudioFrame) -> Any:
    graph: Any = av.filter.Graph()
    form, layout, rate = _shape(frame)
    chain = [graph.add_abuffer(format=form, layout=layout, sample_rate=rate, time_base=Fraction(1, rate))]
    for filter in [*FILTERS.split(","), f"aresample={RATE}", "aformat=sample_fmts=s16"]:
        name, _, options = filter.partition("=")
        chain.append(graph.add(name, options))
    graph.link_nodes(*chain, graph.add("abuffersink")).configure()
    return graph


def _filtered(graph: Any, frame: av.AudioFrame | None) -> Iterator[Samples]:
    """Pairs of samples that come out; without a frame, all that are left in the filters."""
    if graph is None:
        return
    graph.push(frame)
    while True:
        try:
            yield graph.pull().to_ndarray().reshape(-1, 2)
        except (av.error.BlockingIOError, av.error.EOFError):
            return


def _mixed(pieces: Iterator[Samples]) -> Iterator[Samples]:
    """Mono: the mean, or the left channel where right is its opposite and the mean would be silent."""
    rest: Samples = np.empty((0, 2), np.int16)
    for piece in pieces:
        rest = np.concatenate([rest, piece])
        whole = len(rest) - len(rest) % BLOCK
        yield _heard(rest[:whole], BLOCK)
        rest = rest[whole:]
    yield _heard(rest, max(1, len(rest)))


def _heard(pairs: Samples, block: int) -> Samples:
    blocks = pairs.reshape(-1, block, 2)
    energy = np.sum(blocks.astype(np.float64) ** 2, axis=1)
    cancelled = energy[:, 0] < CANCELLED * energy[:, 1]
    return np.where(cancelled[:, None], blocks[:, :, 1], blocks[:, :, 0]).reshape(-1)


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

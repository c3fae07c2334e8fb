"""Speech in the format that the caller asked for, by one ffmpeg process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing

from .errors import WorkerError

RATE = 24_000
#: Content type and ffmpeg's output arguments.
FORMATS = {
    "mp3": ("audio/mpeg", "-c:a libmp3lame -b:a 64k -write_xing 0 -f mp3"),
    "opus": ("audio/ogg", "-c:a libopus -b:a 32k -page_duration 20000 -f ogg"),
    "aac": ("audio/aac", "-c:a aac -f adts"),
    "flac": ("audio/flac", "-c:a flac -f flac"),
    "wav": ("audio/wav", "-c:a pcm_s16le -f wav"),
    "pcm": ("audio/pcm", "-c:a pcm_s16le -f s16le"),
}


async def encode(pcm: AsyncIterator[bytes], rate: int, target: str) -> AsyncIterator[bytes]:
    """`pcm` is s16le mono at `rate`. Yields encoded pieces at 24 kHz."""
    source = f"-probesize 32 -analyzeduration 0 -f s16le -ar {rate} -ac 1 -i pipe:0 -flush_packets 1 -ar {RATE}"
    command = f"ffmpeg -hide_banner -loglevel error -threads 1 {source} {FORMATS[target][1]} pipe:1".split()
    process = await asyncio.create_subprocess_exec(*command, stdin=-1, stdout=-1)
    assert process.stdin and process.stdout
    feeder = asyncio.ensure_future(_feed(pcm, process.stdin))
    try:
        while piece := await process.stdout.read(65_536):
            yield piece
        await feeder
        if await process.wait():
            raise WorkerError("engine_failed", f"ffmpeg could not write {target}.")
    finally:
        feeder.cancel()
        if process.returncode is None:
            process.kill()


async def _feed(pcm: AsyncIterator[bytes], stdin: asyncio.StreamWriter) -> None:
    with closing(stdin):
        async for piece in pcm:
            stdin.write(piece)
            await stdin.drain()

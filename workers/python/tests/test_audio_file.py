"""Files that are cut, damaged or joined are heard as ffmpeg's command hears them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from switchyard_worker.ctranslate2.audio_file import _mixed, _pieces

pytestmark = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")

#: Samples: resamplers of two releases end differently.
TOLERANCE = 400


def made(path: Path, *options: str, seconds: int = 4) -> bytes:
    source = ["-f", "lavfi", "-i", f"sine=frequency=440:duration={seconds}"]
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", *source, *options, str(path)], check=True)
    return path.read_bytes()


def by_ffmpeg(path: Path) -> int:
    options = ["-vn", "-sn", "-dn", "-ac", "1", "-ar", "16000", "-f", "s16le", "pipe:1"]
    command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-i", str(path), *options]
    return len(subprocess.run(command, capture_output=True, check=False).stdout) // 2


def damaged(file: bytes, kind: str) -> bytes:
    middle = len(file) // 2
    if kind == "cut off":
        return file[: len(file) * 6 // 10]
    if kind == "500 bytes lost":
        return file[:middle] + file[middle + 500 :]
    return file[:middle] + bytes(at * 37 % 256 for at in range(200)) + file[middle + 200 :]


@pytest.mark.parametrize("kind", ["cut off", "500 bytes lost", "200 bytes overwritten"])
@pytest.mark.parametrize("name", ["a.mp3", "a.flac", "a.aac", "a.ogg", "a.opus", "a.webm"])
def test_what_is_left_of_a_damaged_file_is_heard(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / name
    path.write_bytes(damaged(made(path), kind))
    expected = by_ffmpeg(path)
    assert expected > 16_000
    # How much of the damaged place is heard differs between releases of ffmpeg.
    assert sum(map(len, _mixed(_pieces(path.read_bytes())))) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("channels", [(1, 2), (2, 1)])
def test_joined_files_are_heard_to_the_end(tmp_path: Path, channels: tuple[int, int]) -> None:
    parts = [made(tmp_path / f"{at}.mp3", "-ac", str(count)) for at, count in enumerate(channels)]
    path = tmp_path / "joined.mp3"
    path.write_bytes(b"".join(parts))
    heard = sum(map(len, _mixed(_pieces(path.read_bytes()))))
    assert abs(heard - by_ffmpeg(path)) <= TOLERANCE
    assert heard > 7 * 16_000


def test_the_default_track_is_heard(tmp_path: Path) -> None:
    short, long, path = tmp_path / "short.wav", tmp_path / "long.wav", tmp_path / "two.m4a"
    made(short, seconds=1)
    made(long, seconds=3)
    tracks = ["-i", str(short), "-i", str(long), "-map", "0:a", "-map", "1:a"]
    chosen = ["-disposition:a:0", "0", "-disposition:a:1", "default"]
    subprocess.run(["ffmpeg", "-loglevel", "error", *tracks, *chosen, "-c:a", "aac", str(path)], check=True)
    heard = sum(map(len, _mixed(_pieces(path.read_bytes()))))
    assert abs(heard - by_ffmpeg(path)) <= TOLERANCE
    assert heard > 2 * 16_000

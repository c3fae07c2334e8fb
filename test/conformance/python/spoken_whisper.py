"""The weights and recordings of test/fixtures/whisper/spoken, behind the gateway."""

import io
import random
import subprocess
import sys
import wave

from product import transcribe
from worker_process import FOLDER, REPOSITORY, Worker

TESTS = REPOSITORY / "workers" / "python" / "tests"
subprocess.run([sys.executable, "-B", TESTS / "whisper_models.py", FOLDER / "ctranslate2"], check=True, stdout=2)
model = FOLDER / "ctranslate2" / "spoken"
# Made by `switchyard engines install ctranslate2`.
python = FOLDER / "data" / "engines" / "ctranslate2" / "bin" / "python"
options = ["--path", str(model), "--threads", "1"]
worker = Worker("ctranslate2", "-m", "switchyard_worker.ctranslate2", *options, python=python)

WORDS = "zero one two three four five six seven eight nine red green blue black yes no".split()
chosen = random.Random(7)
SENTENCES = [" ".join(chosen.choices(WORDS, k=chosen.randint(2, 4))) for _ in range(24)]


def samples(at):
    """16 kHz, 16 bits, one channel."""
    file = REPOSITORY / "test" / "fixtures" / "whisper" / "spoken" / "speech" / f"{at:02}.ogg"
    arguments = ["-loglevel", "error", "-i", file, "-ar", "16000", "-ac", "1", "-f", "s16le", "pipe:1"]
    return subprocess.run(["ffmpeg", *arguments], check=True, stdout=subprocess.PIPE).stdout


def as_wav(audio):
    out = io.BytesIO()
    with wave.open(out, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(16_000)
        written.writeframes(audio)
    return out.getvalue()


SPEECH = [samples(at) for at in range(len(SENTENCES))]
FILES = [as_wav(audio) for audio in SPEECH]


def heard(audio, by="ctranslate2", **options):
    return transcribe(file=("speech.wav", audio), model=by, timeout=120, **options)


def joined(parts):
    """One file of samples, with a second of silence after each."""
    return as_wav(b"".join(part + bytes(2 * 16_000) for part in parts))


def as_flac(file):
    arguments = ["-loglevel", "error", "-i", "pipe:0", "-f", "flac", "pipe:1"]
    return subprocess.run(["ffmpeg", *arguments], check=True, input=file, stdout=subprocess.PIPE).stdout

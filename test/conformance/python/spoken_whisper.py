"""The weights of test/fixtures/whisper/spoken behind the gateway, and what flite says."""

import io
import random
import subprocess
import sys
import wave
from concurrent.futures import ThreadPoolExecutor

from product import client, transcribe
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


def spoken(text, voice="alloy"):
    return client.audio.speech.create(model="tts-1", voice=voice, input=f"{text}.", response_format="wav").content


with ThreadPoolExecutor(8) as pool:
    FILES = list(pool.map(spoken, SENTENCES))


def heard(audio, by="ctranslate2", **options):
    return transcribe(file=("speech.wav", audio), model=by, timeout=120, **options)


def joined(files):
    """One file, with a second of silence after each."""
    out = io.BytesIO()
    with wave.open(out, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(24_000)
        for audio in files:
            with wave.open(io.BytesIO(audio)) as one:
                written.writeframes(one.readframes(one.getnframes()) + bytes(2 * 24_000))
    return out.getvalue()

"""Audio seconds per second of callers at the gateway, and of CTranslate2's own batches, in turns, on the same weights.

    python whisper_models.py FOLDER random-base          # a model of Whisper base's shape, random weights
    python bench_whisper.py --path FOLDER/random-base --url http://127.0.0.1:8000 --model ID --threads 2

The gateway's worker for ID runs on the same folder with `--threads 2 --temperatures 0`. Wants a quiet machine.
"""

from __future__ import annotations

import argparse
import statistics
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from test_ctranslate2 import rhythm, wav

from switchyard_worker.ctranslate2.audio_file import RATE
from switchyard_worker.ctranslate2.whisper import Settings, Task, Whisper


def own_batches(whisper: Whisper, clips: list[np.ndarray], batch: int) -> float:
    """Features and one `generate` per batch, as a script on CTranslate2 alone does it."""
    started = time.perf_counter()
    for at in range(0, len(clips), batch):
        part = clips[at : at + batch]
        whisper.hear([Task(whisper.features(clip), len(clip) / RATE, "en") for clip in part])
    return sum(len(clip) for clip in clips) / RATE / (time.perf_counter() - started)


def through_gateway(url: str, model: str, clips: list[np.ndarray], callers: int) -> float:
    """Each caller sends its next file when it has its answer."""
    files = [wav(clip) for clip in clips]
    started = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        list(pool.map(lambda file: post(url, model, file), files))
    return sum(len(clip) for clip in clips) / RATE / (time.perf_counter() - started)


def post(url: str, model: str, file: bytes) -> None:
    fields = {"model": model, "language": "en"}
    edge = "----bench"
    parts = [f'--{edge}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items()]
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
    body = ("".join(parts) + head).encode() + file + f"\r\n--{edge}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={edge}"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/audio/transcriptions", body, headers)) as answer:
        answer.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--compute-type", default="default")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--clips", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    whisper = Whisper(Settings(options.path, options.device, options.compute_type, options.threads))
    clips = [rhythm(options.seconds, seed) for seed in range(1, options.clips + 1)]
    rates: dict[str, list[float]] = {"one by one": [], "own batches of 8": [], "gateway": []}
    for number in range(options.rounds + 1):
        found = {
            "one by one": own_batches(whisper, clips[:8], 1),
            "own batches of 8": own_batches(whisper, clips, 8),
            "gateway": through_gateway(options.url, options.model, clips, options.callers),
        }
        for name, rate in found.items() if number else ():
            rates[name].append(rate)
    for name, found_rates in rates.items():
        spread = f"{min(found_rates):.1f} to {max(found_rates):.1f}"
        print(f"{name:18} {statistics.median(found_rates):8.1f} audio s/s ({spread})")
    share = statistics.median(rates["gateway"]) / statistics.median(rates["own batches of 8"])
    print(f"gateway / own batches of 8: {share:.2f}")


if __name__ == "__main__":
    main()

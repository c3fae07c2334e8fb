"""Audio seconds per second, memory and texts of callers at the gateway and of peers, in turns, on the same weights.

`npm run bench -- whisper` makes the model, starts the gateway with two models on it, and runs this program. Alone:

    python whisper_models.py FOLDER random-base    # random weights; also FOLDER/random-base-onnx and -ggml.bin
    python bench_whisper.py --path FOLDER/random-base --url http://127.0.0.1:8000 --ctranslate2 ID --threads 2

The gateway's worker for ID runs on the same folder with `--threads 2 --temperatures 0`. Wants a quiet machine. The last
line is JSON: rates by way and round, resident memory and texts by way, the sizes of the engine calls of the first eight
of eight callers, the peers' versions, and those that are left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bench_whisper_peers import BATCH, PEERS, check_counts
from clips import speech, wav


@dataclass
class Turn:
    """What a way did with some clips."""

    seconds: float
    texts: list[str]
    #: Sizes of the engine calls that the answers came from, where answers tell them.
    sizes: list[int] = field(default_factory=list)


class Way(Protocol):
    #: Processes that do the work.
    pids: list[int]

    def hear(self, seconds: float, count: int) -> Turn: ...


class PeerProcess:
    """A peer of bench_whisper_peers.py. `problem`: why it cannot be had."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        program = Path(__file__).with_name("bench_whisper_peers.py")
        command = [sys.executable, "-B", str(program), name]
        for option in ("path", "threads", "device", "compute_type"):
            command += [f"--{option.replace('_', '-')}", str(getattr(options, option))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pids = [self._process.pid]
        told = self._told()
        self.problem, self.version = told.get("error"), told.get("version", "")

    def hear(self, seconds: float, count: int) -> Turn:
        self._process.stdin.write(f"{seconds} {count}\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]
        return Turn(**self._told())

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _told(self) -> dict[str, Any]:
        for line in self._process.stdout or []:
            # Libraries print, too.
            if line.startswith("{"):
                told: dict[str, Any] = json.loads(line)
                return told
        return {"error": f"ended with {self._process.wait()}"}


class Callers:
    """Each caller at the gateway sends its next file when it has its answer."""

    def __init__(self, url: str, fields: dict[str, str], callers: int, pids: list[int]) -> None:
        self._url, self._fields, self._callers, self.pids = url, fields, callers, pids

    def hear(self, seconds: float, count: int) -> Turn:
        files = [wav(speech(seconds, seed)) for seed in range(1, count + 1)]
        started = time.perf_counter()
        with ThreadPoolExecutor(self._callers) as pool:
            answers = list(pool.map(self._post, files))
        took = time.perf_counter() - started
        texts = [" ".join(text.split()) for text, _ in answers]
        check_counts(texts)
        return Turn(took, texts, [size for _, size in answers])

    def _post(self, file: bytes) -> tuple[str, int]:
        edge = "----bench"
        parts = [
            f'--{edge}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in self._fields.items()
        ]
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
        body = ("".join(parts) + head).encode() + file + f"\r\n--{edge}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={edge}"}
        request = urllib.request.Request(f"{self._url}/v1/audio/transcriptions", body, headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["text"], int(answer.headers["x-switchyard-batch-size"])


def callers_of(options: argparse.Namespace) -> dict[str, Callers]:
    def callers(model: str, count: int, temperature: str, pids: list[int]) -> Callers:
        return Callers(options.url, {"model": model, "language": "en", "temperature": temperature}, count, pids)

    gateway = options.gateway_pid
    python = [pid for pid in (gateway, options.worker_pid) if pid is not None]
    return {f"gateway ctranslate2, {n} callers": callers(options.ctranslate2, n, "0", python) for n in (8, 32)}


def forget_peak(pid: int) -> None:
    """From now on the peak of its memory is a new one, where the system lets one ask for that."""
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        return


def peak_mib(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0)


def agreement(texts: dict[str, list[str]]) -> dict[str, dict[str, int]]:
    """Of each way, how many of its texts are those that most ways found."""
    most = max(len(found) for found in texts.values())
    usual = [Counter(each[at] for each in texts.values() if at < len(each)).most_common(1)[0][0] for at in range(most)]
    return {
        name: {"compared": len(found), "equal": sum(a == b for a, b in zip(found, usual, strict=False))}
        for name, found in texts.items()
    }


def measure(ways: dict[str, Way], options: argparse.Namespace) -> dict[str, Any]:
    """Takes the ways in turns. The first round warms up."""
    rates: dict[str, list[float]] = {name: [] for name in ways}
    memory: dict[str, list[float]] = {name: [] for name in ways}
    groups: dict[str, list[list[int]]] = {}
    texts: dict[str, list[str]] = {}
    for number in range(options.rounds + 1):
        for name, way in ways.items():
            count = clips_of(name, options.clips)
            for pid in way.pids:
                forget_peak(pid)
            turn = way.hear(options.seconds, count if number else min(count, BATCH))
            rate = len(turn.texts) * options.seconds / turn.seconds
            peak = sum(map(peak_mib, way.pids))
            told = f"{rate:8.1f} audio s/s {peak:8.0f} MiB"
            print(f"  {number or 'warm-up'}  {name:32} {told}", file=sys.stderr, flush=True)
            if number == 0:
                continue
            rates[name].append(rate)
            memory[name].append(peak)
            texts[name] = turn.texts[: options.clips]
            if name.endswith(", 8 callers"):
                groups.setdefault(name, []).append(turn.sizes[:BATCH])
    return {"rates": rates, "rssMib": memory, "texts": agreement(texts), "groups": groups}


def clips_of(name: str, clips: int) -> int:
    """A turn of one by one is as long as one of batches would be with a quarter of the clips."""
    return max(1, clips // 4) if name.endswith("one by one") else 2 * clips if ", 32" in name else clips


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="the model in CTranslate2's format")
    parser.add_argument("--url", required=True)
    parser.add_argument("--gateway-pid", type=int, help="to know its memory, and that of the processes it started")
    parser.add_argument("--worker-pid", type=int, help="of the ctranslate2 worker")
    parser.add_argument("--ctranslate2", required=True, help="id of the gateway's model on the ctranslate2 worker")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu", help="of CTranslate2 and faster-whisper")
    parser.add_argument("--compute-type", default="default")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--clips", type=int, default=16, help="of one turn; twice as many for 32 callers (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    peers = {name: PeerProcess(name, options) for name in PEERS}
    try:
        left_out = {name: peer.problem for name, peer in peers.items() if peer.problem}
        found = {name: peer for name, peer in peers.items() if name not in left_out}
        measured = measure({**found, **callers_of(options)}, options)
        versions = sorted({peer.version for peer in found.values()})
        print(json.dumps({**measured, "versions": versions, "leftOut": left_out}))
    finally:
        for peer in peers.values():
            peer.end()


if __name__ == "__main__":
    main()

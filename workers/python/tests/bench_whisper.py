"""Audio seconds per second of callers at the gateway and of peers, in turns, on the same weights.

`npm run bench -- whisper` makes the model, starts the gateway with two models on it, and runs this program. Alone:

    python whisper_models.py FOLDER random-base    # random weights; also FOLDER/random-base-onnx
    python bench_whisper.py --path FOLDER/random-base --url http://127.0.0.1:8000 --ctranslate2 ID --threads 2

The gateway's worker for ID runs on the same folder with `--threads 2 --temperatures 0`. Wants a quiet machine. The last
line is JSON: rates by way and round, the sizes of the engine calls of the first eight of eight callers, and the peers
that are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from test_ctranslate2 import rhythm, wav
from whisper_models import load_weights

from switchyard_worker.ctranslate2.audio_file import RATE
from switchyard_worker.ctranslate2.whisper import Settings, Task, Whisper

Clips = list[np.ndarray[Any, np.dtype[np.int16]]]
#: Returns the sizes of the engine calls that its answers came from, where answers tell them.
Way = Callable[[Clips], list[int]]
#: Of every window, by the model's own limit.
TOKENS = 64
BATCH = 8


def own_batches(whisper: Whisper, batch: int) -> Way:
    """Features and one `generate` per batch, as a script on CTranslate2 alone does it."""

    def hear(clips: Clips) -> list[int]:
        for at in range(0, len(clips), batch):
            part = clips[at : at + batch]
            whisper.hear([Task(whisper.features(clip), len(clip) / RATE, "en") for clip in part])
        return []

    return hear


def transformers_batches(folder: Path, threads: int) -> Way:
    """`generate` of transformers on torch, greedy, without a second try, on batches of 8."""
    import torch
    from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

    torch.set_num_threads(threads)
    fields = json.loads((folder / "config.json").read_text())
    generation = json.loads((folder / "generation_config.json").read_text())
    size = {"encoder_ffn_dim": 4 * fields["d_model"], "decoder_ffn_dim": 4 * fields["d_model"]}
    end = {"pad_token_id": fields["eos_token_id"], "bos_token_id": fields["eos_token_id"]}
    fields |= {"activation_function": "gelu", "suppress_tokens": [], "begin_suppress_tokens": []}
    model = WhisperForConditionalGeneration(WhisperConfig(**fields, **size, **end)).eval()
    weights = {name: torch.from_numpy(value.copy()) for name, value in load_weights(folder).items()}
    missing = model.load_state_dict(torch_names(weights, fields), strict=False).missing_keys
    if set(missing) - {"proj_out.weight"}:
        raise ValueError(f"weights without a name: {missing}")
    extractor = WhisperFeatureExtractor.from_pretrained(folder)
    start = [
        [
            fields["decoder_start_token_id"],
            *(generation["lang_to_id"]["<|en|>"], generation["task_to_id"]["transcribe"]),
        ]
    ]
    never = generation["suppress_tokens"]

    def hear(clips: Clips) -> list[int]:
        for at in range(0, len(clips), BATCH):
            floats = [clip.astype(np.float32) / 32768 for clip in clips[at : at + BATCH]]
            features = extractor(floats, sampling_rate=RATE, return_tensors="pt").input_features
            with torch.inference_mode():
                # The loop of every model: Whisper's own `generate` adds windows, times and second tries.
                found = super(WhisperForConditionalGeneration, model).generate(
                    features,
                    decoder_input_ids=torch.tensor(start * len(floats)),
                    max_new_tokens=TOKENS,
                    min_new_tokens=TOKENS,
                    do_sample=False,
                    suppress_tokens=never,
                )
            # Older versions return the start as well.
            made = found.shape[1] - (len(start[0]) if found[0, : len(start[0])].tolist() == start[0] else 0)
            if made != TOKENS:
                raise ValueError(f"transformers made {made} tokens, not {TOKENS}")
        return []

    hear([rhythm(1, 1)])
    return hear


def torch_names(w: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """The names of transformers for those of whisper_graph.py; matrices are transposed there."""
    state: dict[str, Any] = {}
    norms = {
        "enc": {"ln1": "self_attn", "ln3": "final"},
        "dec": {"ln1": "self_attn", "ln2": "encoder_attn", "ln3": "final"},
    }
    for side, name in (("enc", "encoder"), ("dec", "decoder")):
        root = f"model.{name}"
        state[f"{root}.embed_positions.weight"] = w[f"{side}.pos"]
        for part, key in (("g", "weight"), ("b", "bias")):
            state[f"{root}.layer_norm.{key}"] = w[f"{side}.ln.{part}"]
        for at in range(fields[f"{name}_layers"]):
            layer, own = f"{root}.layers.{at}", f"{side}.{at}"
            attentions = {"self": "self_attn"} | ({"cross": "encoder_attn"} if side == "dec" else {})
            parts = {f"{own}.{k}.{p}": f"{v}.{p}" for k, v in attentions.items() for p in "qkvo"}
            linear = {ours: f"{layer}.{theirs.replace('.o', '.out')}_proj" for ours, theirs in parts.items()}
            linear |= {f"{own}.fc1": f"{layer}.fc1", f"{own}.fc2": f"{layer}.fc2"}
            for ours, theirs in linear.items():
                state[f"{theirs}.weight"] = w[f"{ours}.w"].T.contiguous()
                if not ours.endswith(".k"):
                    state[f"{theirs}.bias"] = w[f"{ours}.b"]
            for ours, theirs in norms[side].items():
                state[f"{layer}.{theirs}_layer_norm.weight"] = w[f"{own}.{ours}.g"]
                state[f"{layer}.{theirs}_layer_norm.bias"] = w[f"{own}.{ours}.b"]
    for conv in ("conv1", "conv2"):
        state[f"model.encoder.{conv}.weight"], state[f"model.encoder.{conv}.bias"] = w[f"{conv}.w"], w[f"{conv}.b"]
    state["model.decoder.embed_tokens.weight"] = state["proj_out.weight"] = w["dec.emb"]
    return state


def through_gateway(url: str, model: str, callers: int, temperature: str) -> Way:
    """Each caller sends its next file when it has its answer."""

    fields = {"model": model, "language": "en", "temperature": temperature}

    def hear(clips: Clips) -> list[int]:
        files = [wav(clip) for clip in clips]
        with ThreadPoolExecutor(callers) as pool:
            return list(pool.map(lambda file: post(url, file, fields), files))

    return hear


def post(url: str, file: bytes, fields: dict[str, str]) -> int:
    edge = "----bench"
    parts = [f'--{edge}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items()]
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
    body = ("".join(parts) + head).encode() + file + f"\r\n--{edge}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={edge}"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/audio/transcriptions", body, headers)) as answer:
        answer.read()
        return int(answer.headers["x-switchyard-batch-size"])


def ways_of(options: argparse.Namespace) -> tuple[dict[str, tuple[Way, int]], dict[str, str]]:
    """Each way with the clips of one turn, and the peers that cannot be had with the reason."""
    whisper = Whisper(Settings(options.path, options.device, options.compute_type, options.threads))
    clips = options.clips
    ways: dict[str, tuple[Way, int]] = {
        "ctranslate2 one by one": (own_batches(whisper, 1), max(1, clips // 4)),
        "ctranslate2 batches of 8": (own_batches(whisper, BATCH), clips),
        "gateway ctranslate2, 8 callers": (through_gateway(options.url, options.ctranslate2, 8, "0"), clips),
        "gateway ctranslate2, 32 callers": (through_gateway(options.url, options.ctranslate2, 32, "0"), 2 * clips),
    }
    left_out: dict[str, str] = {}
    if options.onnx is None:
        return ways, left_out
    # Above 0 nothing is tried again; so low that the likeliest token is nearly always taken.
    ways["whisper-onnx one by one"] = through_gateway(options.url, options.onnx, 1, "0.01"), max(1, clips // 4)
    ways["whisper-onnx, 8 callers"] = through_gateway(options.url, options.onnx, 8, "0.01"), clips
    try:
        ways["transformers batches of 8"] = transformers_batches(options.onnx_path, options.threads), clips
    except Exception as error:
        left_out["transformers on torch"] = f"{type(error).__name__}: {error}"
    return ways, left_out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="the model in CTranslate2's format")
    parser.add_argument("--url", required=True)
    parser.add_argument("--ctranslate2", required=True, help="id of the gateway's model on the ctranslate2 worker")
    parser.add_argument("--onnx", help="id of the gateway's model on whisper-onnx")
    parser.add_argument("--onnx-path", type=Path, help="the model in the public ONNX layout")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--compute-type", default="default")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--clips", type=int, default=16, help="of one turn; twice as many for 32 callers (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ways, left_out = ways_of(options)
    clips = [rhythm(options.seconds, seed) for seed in range(1, 2 * options.clips + 1)]
    rates: dict[str, list[float]] = {name: [] for name in ways}
    groups: dict[str, list[list[int]]] = {}
    for number in range(options.rounds + 1):
        for name, (hear, count) in ways.items():
            # The first round warms up.
            part = clips[: count if number else min(count, BATCH)]
            started = time.perf_counter()
            sizes = hear(part)
            rate = len(part) * options.seconds / (time.perf_counter() - started)
            print(f"  {number or 'warm-up'}  {name:32} {rate:8.1f} audio s/s", file=sys.stderr, flush=True)
            if number:
                rates[name].append(rate)
            if number and name.endswith(", 8 callers"):
                groups.setdefault(name, []).append(sizes[:BATCH])
    print(json.dumps({"rates": rates, "groups": groups, "leftOut": left_out}))


if __name__ == "__main__":
    main()

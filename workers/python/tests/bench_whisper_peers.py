"""One peer of the bench in a process of its own, so that its memory is known: `bench_whisper.py` starts it.

    python bench_whisper_peers.py NAME --path FOLDER/random-base --threads 2

Each line of standard input asks for a turn: seconds of one clip, and the number of clips. The answer is a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from clips import RATE, Clip, speech

# What a peer is made of is imported where it is made: no other's is to count as its memory.
Clips = list[Clip]
#: Returns the texts of the clips.
Peer = Callable[[Clips], list[str]]
#: Of every window, by the model's own limit: a time and words.
TOKENS = 64
BATCH = 8


def in_batches(clips: Clips, size: int = BATCH) -> Iterator[Clips]:
    for at in range(0, len(clips), size):
        yield clips[at : at + size]


def ctranslate2(options: argparse.Namespace, batch: int) -> Peer:
    """Features and one `generate` per batch, as a script on CTranslate2 alone does it."""
    from switchyard_worker.ctranslate2.whisper import Settings, Task, Whisper

    whisper = Whisper(Settings(options.path, options.device, options.compute_type, options.threads))

    def hear(clips: Clips) -> list[str]:
        texts = []
        for part in in_batches(clips, batch):
            heard = whisper.hear([Task(whisper.features(clip), len(clip) / RATE, "en") for clip in part])
            texts += ["".join(segment.segment.text for segment in one.segments) for one in heard]
        return texts

    return hear


def faster_whisper(options: argparse.Namespace) -> Peer:
    """Its BatchedInferencePipeline on one long recording of all clips, cut where they begin."""
    from faster_whisper import BatchedInferencePipeline, WhisperModel

    place = {"device": options.device, "compute_type": options.compute_type, "cpu_threads": options.threads}
    pipeline = BatchedInferencePipeline(WhisperModel(str(options.path), local_files_only=True, **place))
    window = pipeline.model.feature_extractor.n_samples

    def hear(clips: Clips) -> list[str]:
        # It fills up a shorter clip's features with zeros, which no silence gives: then its texts would be others.
        audio = np.concatenate([np.pad(as_floats(clip), (0, window - len(clip))) for clip in clips])
        seconds = window // RATE
        cuts = [{"start": at * seconds, "end": (at + 1) * seconds} for at in range(len(clips))]
        # CTranslate2 makes half of what this allows with the start sequence.
        length = {"max_new_tokens": 2 * TOKENS - len(START)}
        greedy = {"beam_size": 1, "temperature": 0.0, "without_timestamps": False}
        how: dict[str, Any] = {"language": "en", "clip_timestamps": cuts, "batch_size": BATCH, **length, **greedy}
        segments, _ = pipeline.transcribe(audio, **how)
        texts = [""] * len(clips)
        for segment in segments:
            texts[int(segment.start // seconds)] += segment.text
        return texts

    return hear


def transformers(options: argparse.Namespace) -> Peer:
    """`generate` of transformers on torch, greedy, without a second try, on batches of 8."""
    import torch
    from tokenizers import Tokenizer
    from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration
    from whisper_models import load_weights

    folder = beside(options.path, "-onnx")
    torch.set_num_threads(options.threads)
    fields = json.loads((folder / "config.json").read_text())
    size = {"encoder_ffn_dim": 4 * fields["d_model"], "decoder_ffn_dim": 4 * fields["d_model"]}
    end = {"pad_token_id": fields["eos_token_id"], "bos_token_id": fields["eos_token_id"]}
    fields |= {"activation_function": "gelu", "suppress_tokens": [], "begin_suppress_tokens": []}
    model = WhisperForConditionalGeneration(WhisperConfig(**fields, **size, **end)).eval()
    weights = {name: torch.from_numpy(value.copy()) for name, value in load_weights(folder).items()}
    missing = model.load_state_dict(torch_names(weights, fields), strict=False).missing_keys
    if set(missing) - {"proj_out.weight"}:
        raise ValueError(f"weights without a name: {missing}")
    extractor = WhisperFeatureExtractor.from_pretrained(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    start = [tokenizer.token_to_id(token) for token in START]

    def hear(clips: Clips) -> list[str]:
        texts = []
        for part in in_batches(clips):
            features = extractor([as_floats(clip) for clip in part], sampling_rate=RATE, return_tensors="pt")
            with torch.inference_mode():
                # The loop of every model: Whisper's own `generate` adds windows, times and second tries.
                found = super(WhisperForConditionalGeneration, model).generate(
                    features.input_features,
                    decoder_input_ids=torch.tensor([start] * len(part)),
                    max_new_tokens=TOKENS,
                    do_sample=False,
                )
            # Older versions return the start as well.
            rows = [[token for token in row if token < fields["eos_token_id"]] for row in found.tolist()]
            texts += tokenizer.decode_batch(rows)
        return texts

    return hear


def whisper_cpp(options: argparse.Namespace) -> Peer:
    """whisper.cpp takes one window at a time."""
    from pywhispercpp.model import Model

    # No second try: neither a low entropy nor a low probability is a failure. Its limit counts from 0.
    once = {"temperature_inc": 0.0, "entropy_thold": 0.0, "logprob_thold": -100.0, "max_tokens": TOKENS - 1}
    quiet = {"print_progress": False, "print_realtime": False, "redirect_whispercpp_logs_to": None}
    how = {"n_threads": options.threads, "language": "en", "no_context": True, "single_segment": True, **once, **quiet}
    # Its flash attention adds up in 16 bits, and finds other words on these weights.
    model = Model(str(beside(options.path, "-ggml.bin")), context_params={"flash_attn": False}, **how)

    def hear(clips: Clips) -> list[str]:
        return [" ".join(segment.text for segment in model.transcribe(as_floats(clip))) for clip in clips]

    return hear


#: What every way begins with.
START = ("<|startoftranscript|>", "<|en|>", "<|transcribe|>")
#: Each peer with the package that its version is of.
PEERS: dict[str, tuple[Callable[[argparse.Namespace], Peer], str]] = {
    "ctranslate2 one by one": (lambda options: ctranslate2(options, 1), "ctranslate2"),
    "ctranslate2 batches of 8": (lambda options: ctranslate2(options, BATCH), "ctranslate2"),
    "faster-whisper batches of 8": (faster_whisper, "faster-whisper"),
    "transformers batches of 8": (transformers, "transformers"),
    "whisper.cpp one by one": (whisper_cpp, "pywhispercpp"),
}


def as_floats(clip: Clip) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.divide(clip, 32768, dtype=np.float32)


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def check_counts(texts: list[str]) -> None:
    """Every way does the same work. Each word is a token; the first token is a time."""
    if "BENCH_SPEECH" in os.environ:  # Words of people: as many as they are.
        return
    counts = {len(text.split()) for text in texts}
    if counts != {TOKENS - 1}:
        raise ValueError(f"made {sorted(counts)} words of a window, not {TOKENS - 1}")


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


def tell(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--compute-type", default="default")
    options = parser.parse_args()
    make, package = PEERS[options.name]
    try:
        hear = make(options)
        check_counts(hear([speech(1, 1)]))
    except Exception as error:
        return tell(error=f"{type(error).__name__}: {error}")
    tell(version=f"{package} {version(package)}")
    for line in sys.stdin:
        seconds, count = line.split()
        clips = [speech(float(seconds), seed) for seed in range(1, int(count) + 1)]
        started = time.perf_counter()
        texts = hear(clips)
        took = time.perf_counter() - started
        check_counts(texts)
        tell(seconds=took, texts=[" ".join(text.split()) for text in texts])


if __name__ == "__main__":
    main()

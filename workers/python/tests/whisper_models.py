"""The Whisper models of test/fixtures/whisper in CTranslate2's format.

`random` has windows of 2 s; `spoken` has windows of 4 s and was trained on 16 words.
Run: python whisper_models.py FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from ctranslate2.specs import common_spec
from ctranslate2.specs.whisper_spec import WhisperSpec
from onnx import numpy_helper

FIXTURES = Path(__file__).parents[3] / "test" / "fixtures" / "whisper"
Weights = dict[str, np.ndarray[Any, np.dtype[np.float32]]]


def convert(source: Path, target: Path, quantization: str | None = None) -> Path:
    """`source`: a folder in the layout of the public ONNX exports, with the weights' names of whisper_graph.py."""
    weights = load_weights(source)
    config = json.loads((source / "config.json").read_text())
    return write(target, source, weights, config, quantization)


def load_weights(source: Path) -> Weights:
    weights: Weights = {}
    for file in ("encoder_model.onnx", "decoder_model_merged.onnx"):
        for tensor in onnx.load(source / "onnx" / file).graph.initializer:
            weights[tensor.name] = numpy_helper.to_array(tensor)
    return weights


def write(target: Path, source: Path, weights: Weights, config: dict[str, Any], quantization: str | None) -> Path:
    """Tokenizer and generation settings come from `source`."""
    spec = WhisperSpec(
        *(config["encoder_layers"], config["encoder_attention_heads"]),
        *(config["decoder_layers"], config["decoder_attention_heads"]),
    )
    tokenizer = json.loads((source / "tokenizer.json").read_text())
    generation = json.loads((source / "generation_config.json").read_text())
    first_special = min(added["id"] for added in tokenizer["added_tokens"])

    def moved(token: int) -> int:
        return token + 1 if token >= first_special else token

    # A vocabulary with an empty token is what CTranslate2 takes for multilingual.
    tokenizer["model"]["vocab"][""] = first_special
    for added in tokenizer["added_tokens"]:
        added["id"] = moved(added["id"])
    fill_encoder(spec.encoder, weights)
    fill_decoder(spec.decoder, weights, first_special)
    tokens = {number: token for token, number in tokenizer["model"]["vocab"].items()}
    tokens |= {added["id"]: added["content"] for added in tokenizer["added_tokens"]}
    spec.register_vocabulary([tokens[number] for number in range(len(tokens))])
    spec.config.suppress_ids = [moved(token) for token in generation["suppress_tokens"]]
    spec.config.suppress_ids_begin = [moved(token) for token in generation["begin_suppress_tokens"]]
    spec.config.lang_ids = [moved(token) for token in generation["lang_to_id"].values()]
    spec.config.alignment_heads = generation["alignment_heads"]
    spec.validate()
    spec.optimize(quantization=quantization)
    target.mkdir(parents=True, exist_ok=True)
    spec.save(str(target))
    (target / "tokenizer.json").write_text(json.dumps(tokenizer))
    (target / "generation_config.json").write_text(json.dumps({"max_length": generation["max_length"]}))
    shutil.copy(source / "preprocessor_config.json", target)
    return target


def fill_encoder(spec: Any, w: Weights) -> None:
    for name in ("conv1", "conv2"):
        conv = getattr(spec, name)
        conv.weight, conv.bias = w[f"{name}.w"], w[f"{name}.b"]
    spec.position_encodings.encodings = w["enc.pos"]
    fill_norm(spec.layer_norm, w, "enc.ln")
    for at, layer in enumerate(spec.layer):
        fill_self_attention(layer.self_attention, w, f"enc.{at}")
        fill_feed_forward(layer.ffn, w, f"enc.{at}")


def fill_decoder(spec: Any, w: Weights, first_special: int) -> None:
    """The empty token, before the special ones, is never chosen."""
    embeddings = np.insert(w["dec.emb"], first_special, 0, axis=0)
    spec.embeddings.weight = spec.projection.weight = embeddings
    spec.projection.bias = np.zeros(len(embeddings), np.float32)
    spec.projection.bias[first_special] = -1e4
    spec.position_encodings.encodings = w["dec.pos"]
    fill_norm(spec.layer_norm, w, "dec.ln")
    for at, layer in enumerate(spec.layer):
        name = f"dec.{at}"
        fill_self_attention(layer.self_attention, w, name)
        fill_linear(layer.attention.linear[0], w, [f"{name}.cross.q"])
        fill_linear(layer.attention.linear[1], w, [f"{name}.cross.k", f"{name}.cross.v"])
        fill_linear(layer.attention.linear[2], w, [f"{name}.cross.o"])
        fill_norm(layer.attention.layer_norm, w, f"{name}.ln2")
        fill_feed_forward(layer.ffn, w, name)


def fill_self_attention(spec: Any, w: Weights, name: str) -> None:
    fill_linear(spec.linear[0], w, [f"{name}.self.{part}" for part in "qkv"])
    fill_linear(spec.linear[1], w, [f"{name}.self.o"])
    fill_norm(spec.layer_norm, w, f"{name}.ln1")


def fill_feed_forward(spec: Any, w: Weights, name: str) -> None:
    fill_linear(spec.linear_0, w, [f"{name}.fc1"])
    fill_linear(spec.linear_1, w, [f"{name}.fc2"])
    fill_norm(spec.layer_norm, w, f"{name}.ln3")


def fill_linear(spec: common_spec.LinearSpec, w: Weights, names: list[str]) -> None:
    """Whisper's keys have no bias."""
    rows = [np.ascontiguousarray(w[f"{name}.w"].T) for name in names]
    biases = [
        np.zeros(len(row), np.float32) if name.endswith(".k") else w[f"{name}.b"]
        for row, name in zip(rows, names, strict=True)
    ]
    spec.weight, spec.bias = np.concatenate(rows), np.concatenate(biases)


def fill_norm(spec: Any, w: Weights, name: str) -> None:
    spec.gamma, spec.beta = w[f"{name}.g"], w[f"{name}.b"]


def random_model(target: Path, *, width: int, layers: int, seed: int = 11) -> Path:
    """Windows of 30 s, a vocabulary of four words, random weights. The public ONNX layout is in TARGET-onnx.

    Times and the end are suppressed, so that every window has the same 64 tokens in any engine.
    """
    sys.path.append(str(FIXTURES))
    from generate import WORDS, random_weights  # type: ignore[import-not-found]
    from whisper_folder import Vocabulary, write_folder  # type: ignore[import-not-found]

    vocabulary = Vocabulary(WORDS, 30)
    heads = width // 64
    dims = {"mels": 80, "frames": 3000, "width": width, "heads": heads, "head_dim": 64, "ff": 4 * width}
    dims |= {"encoder_layers": layers, "decoder_layers": layers, "positions": 128, "vocab": vocabulary.size}
    source = target.with_name(target.name + "-onnx")
    write_folder(source, vocabulary, dims, random_weights(dims, seed), 30, [[layers - 1, 0]])
    file = source / "generation_config.json"
    generation = json.loads(file.read_text())
    start = vocabulary.special["<|0.00|>"]
    generation["suppress_tokens"] += [vocabulary.special["<|endoftext|>"], *range(start + 1, vocabulary.size)]
    file.write_text(json.dumps(generation))
    return convert(source, target)


if __name__ == "__main__":
    if sys.argv[2:] == ["random-base"]:
        print(random_model(Path(sys.argv[1]) / "random-base", width=512, layers=6))
        sys.exit()
    for name in ("random", "spoken"):
        print(convert(FIXTURES / name, Path(sys.argv[1]) / name))

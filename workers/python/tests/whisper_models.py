"""The Whisper models of test/fixtures/whisper in CTranslate2's format.

`random` has windows of 2 s; `spoken` has windows of 4 s and was trained on 16 words.
Run: python whisper_models.py FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from itertools import product
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

    # A vocabulary with an empty token is what CTranslate2 takes for multilingual; the published ones have one.
    empty = tokenizer["model"]["vocab"].get("")

    def moved(token: int) -> int:
        return token + 1 if empty is None and token >= first_special else token

    tokenizer["model"]["vocab"].setdefault("", first_special)
    for added in tokenizer["added_tokens"]:
        added["id"] = moved(added["id"])
    fill_encoder(spec.encoder, weights)
    if empty is None:
        weights = weights | {"dec.emb": np.insert(weights["dec.emb"], first_special, 0, axis=0)}
    fill_decoder(spec.decoder, weights, first_special if empty is None else empty)
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


def fill_decoder(spec: Any, w: Weights, empty: int) -> None:
    """The empty token is never chosen."""
    spec.embeddings.weight = spec.projection.weight = w["dec.emb"]
    spec.projection.bias = np.zeros(len(w["dec.emb"]), np.float32)
    spec.projection.bias[empty] = -1e4
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


#: Of `<|transcribe|>`, after which the first token is chosen.
LAST_OF_START = 2
#: Dimensions of the decoder that `steered` takes.
NEVER, FIRST = 0, 1


def random_model(target: Path, *, width: int, layers: int, seed: int = 11) -> Path:
    """Random weights in Whisper's shape: windows of 30 s, its 51,865 tokens, 240 of them words; 64 tokens a window.

    TARGET is in CTranslate2's format, TARGET-onnx in the public ONNX layout, TARGET-ggml.bin in whisper.cpp's.
    """
    sys.path.append(str(FIXTURES))
    from faster_whisper.tokenizer import _LANGUAGE_CODES
    from generate import random_weights  # type: ignore[import-not-found]
    from whisper_folder import Vocabulary, write_folder  # type: ignore[import-not-found]
    from whisper_ggml import write_ggml

    # whisper.cpp takes the first language for English, and knows 99.
    languages = ("en", *sorted(set(_LANGUAGE_CODES) - {"en", "yue"}))
    words = ["".join(letters) for letters in product("bdfgklmnprst", "aeiou", "lnrs")]
    vocabulary = Vocabulary(words, 30, languages, text_tokens=50_257)
    heads = width // 64
    dims = {"mels": 80, "frames": 3000, "width": width, "heads": heads, "head_dim": 64, "ff": 4 * width}
    dims |= {"encoder_layers": layers, "decoder_layers": layers, "positions": 128, "vocab": vocabulary.size}
    weights = random_weights(dims, seed)
    steered(weights, list(vocabulary.words.values()), vocabulary.special["<|0.00|>"], layers)
    source = target.with_name(target.name + "-onnx")
    write_folder(source, vocabulary, dims, weights, 30, [[layers - 1, 0]])
    file = source / "generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"suppress_tokens": []}))
    # Engines make half as many tokens of a window as there are positions, whisper.cpp four less: it gets unused ones.
    more = {"dec.pos": np.pad(weights["dec.pos"], ((0, 320), (0, 0)))}
    write_ggml(target.with_name(target.name + "-ggml.bin"), load_weights(source) | more, vocabulary.tokens, dims)
    return convert(source, target)


def steered(w: Weights, words: list[int], first_time: int, layers: int) -> None:
    """`<|0.00|>` first and then words alone, never the end: every window has as many tokens in any engine.

    Scores are the products of a token's row and the last norm's output. One dimension of that output is always the
    same, and takes 64 from the scores of all tokens but the words. Another is written by the position alone.
    """
    w["dec.ln.g"][NEVER], w["dec.ln.b"][NEVER] = 0, 16
    w["dec.emb"][:, NEVER], w["dec.emb"][:, FIRST] = -4, 0
    w["dec.emb"][words, NEVER] = 0
    w["dec.emb"][first_time, FIRST] = 24
    w["dec.pos"][:, FIRST] = 0
    w["dec.pos"][LAST_OF_START, FIRST] = 100
    for name in (f"dec.{at}.{part}" for at in range(layers) for part in ("self.o", "cross.o", "fc2")):
        w[f"{name}.w"][:, FIRST] = 0
        w[f"{name}.b"][FIRST] = 0


if __name__ == "__main__":
    if sys.argv[2:] == ["random-base"]:
        print(random_model(Path(sys.argv[1]) / "random-base", width=512, layers=6))
        sys.exit()
    for name in ("random", "spoken"):
        print(convert(FIXTURES / name, Path(sys.argv[1]) / name))

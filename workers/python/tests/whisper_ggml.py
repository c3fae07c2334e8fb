"""Whisper models in the file format of whisper.cpp, as its convert-pt-to-ggml.py writes them.

Its matrices have 16 bits: release 1.8.5 cannot compute with others on a CPU.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

MAGIC = 0x67676D6C
#: Types of a tensor.
FLOAT32, FLOAT16 = 0, 1
#: Names of whisper_graph.py, and those of openai-whisper.
NAMES = {
    r"^conv": "encoder.conv",
    r"^enc\.ln": "encoder.ln_post",
    r"^enc\.(\d)": r"encoder.blocks.\1",
    r"^dec\.(\d)": r"decoder.blocks.\1",
    r"^enc\.": "encoder.",
    r"^dec\.": "decoder.",
    r"\.pos$": ".positional_embedding",
    r"\.emb$": ".token_embedding.weight",
    r"\.self\.": ".attn.",
    r"\.cross\.": ".cross_attn.",
    r"attn\.q\.": "attn.query.",
    r"attn\.k\.": "attn.key.",
    r"attn\.v\.": "attn.value.",
    r"attn\.o\.": "attn.out.",
    r"\.ln1\.": ".attn_ln.",
    r"\.ln2\.": ".cross_attn_ln.",
    r"\.ln3\.": ".mlp_ln.",
    r"\.fc1\.": ".mlp.0.",
    r"\.fc2\.": ".mlp.2.",
    r"\.[wg]$": ".weight",
    r"\.b$": ".bias",
}


def openai_weights(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays or tensors under the names of openai-whisper, whose matrices are transposed; keys have no bias."""
    found = {}
    for own, values in weights.items():
        if not re.match("conv|enc|dec", own) or own.endswith(".k.b"):
            continue
        name = own
        for ours, theirs in NAMES.items():
            name = re.sub(ours, theirs, name)
        is_matrix = name.endswith(".weight") and values.ndim == 2 and ".token" not in name
        found[name] = values.T if is_matrix else values
    return found


def write_ggml(target: Path, weights: Mapping[str, Any], tokens: Mapping[str, int], dims: Mapping[str, int]) -> Path:
    """`tokens`: those of text, in GPT-2's letters for bytes."""
    from faster_whisper.feature_extractor import FeatureExtractor
    from whisper_folder import byte_letters  # type: ignore[import-not-found]

    bytes_of = {letter: byte for byte, letter in byte_letters().items()}
    width, heads = dims["width"], dims["heads"]
    audio = (dims["frames"] // 2, width, heads, dims["encoder_layers"])
    text = (len(weights["dec.pos"]), width, heads, dims["decoder_layers"])
    filters = FeatureExtractor.get_mel_filters(16_000, n_fft=400, n_mels=dims["mels"]).astype(np.float32)
    with target.open("wb") as file:
        integers(file, MAGIC, dims["vocab"], *audio, *text, dims["mels"], FLOAT16)
        integers(file, *filters.shape)
        file.write(filters.tobytes())
        integers(file, len(tokens))
        for token in sorted(tokens, key=lambda token: tokens[token]):
            text_bytes = bytes(bytes_of[letter] for letter in token)
            integers(file, len(text_bytes))
            file.write(text_bytes)
        for name, values in openai_weights(weights).items():
            write_tensor(file, name, values)
    return target


def write_tensor(file: BinaryIO, name: str, values: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    is_half = name.endswith("weight") and values.ndim > 1
    if re.search(r"conv\d\.bias", name):
        values = values[:, None]
    integers(file, values.ndim, len(name), FLOAT16 if is_half else FLOAT32, *reversed(values.shape))
    file.write(name.encode())
    file.write(np.ascontiguousarray(values, np.float16 if is_half else np.float32).tobytes())


def integers(file: BinaryIO, *values: int) -> None:
    file.write(struct.pack(f"{len(values)}i", *values))

"""Decodes the files whose paths come by stdin, one a line, for a contract test of decoders.

Samples are written beside each file (`.pcm`, s16le); stdout has a status for each: "ok" or the code of the error.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from switchyard_worker.ctranslate2.audio_file import decoded
from switchyard_worker.errors import WorkerError


def status(path: Path) -> str:
    request: Any = SimpleNamespace(message=SimpleNamespace(audio=path.read_bytes()), check=lambda: None)
    try:
        path.with_name(f"{path.name}.pcm").write_bytes(decoded(request).tobytes())
    except WorkerError as error:
        return error.code
    return "ok"


for line in sys.stdin:
    print(status(Path(line.rstrip("\n"))))

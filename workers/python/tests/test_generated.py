from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_the_committed_protocol_code_is_what_the_protos_generate(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PYTHON": sys.executable, "PATH": path}
    subprocess.run([ROOT / "generate.sh", tmp_path], check=True, env=environment)
    for made in sorted((tmp_path / "switchyard" / "v1").iterdir()):
        assert made.read_text() == (ROOT / "src" / "switchyard" / "v1" / made.name).read_text(), made.name

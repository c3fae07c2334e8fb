"""The CUDA libraries that `pip install nvidia-cublas-cu12` puts into this environment."""

from __future__ import annotations

import ctypes
import sysconfig
from pathlib import Path

#: cuBLAS needs the first one.
NAMES = ("libcublasLt.so.12", "libcublas.so.12")


def load_cuda_libraries() -> list[str]:
    """Loads them before CTranslate2 asks for them by name, without LD_LIBRARY_PATH. Returns what was loaded."""
    folder = Path(sysconfig.get_paths()["purelib"], "nvidia", "cublas", "lib")
    present = [name for name in NAMES if (folder / name).exists()]
    for name in present:
        ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)
    return present

"""The official Python SDK, unchanged, against a running Switchyard. Usage: run.py BASE_URL"""

import sys

import openai

# Each registers its checks; in this order they run.
import audio  # noqa: F401
import clients  # noqa: F401
import jobs  # noqa: F401
import text  # noqa: F401
import llama_chat  # noqa: F401
import llama_formats  # noqa: F401
import llama_completions  # noqa: F401
import llama_vectors  # noqa: F401
import llama_calls  # noqa: F401
from checks import run_all

print(f"openai {openai.__version__}, Python {sys.version.split()[0]}", flush=True)
run_all()

"""The official Python SDK, unchanged, and workers in Python with a running Switchyard.

Usage: run.py BASE_URL FOLDER [MODULE], where FOLDER is what generate-models.ts wrote and MODULE the only one to run.
"""

import importlib
import sys

import openai
from checks import run_all

# Each registers its checks; in this order they run.
MODULES = ["audio", "clients", "jobs", "text", "strict", "stock_clients"]
MODULES += ["llama_chat", "llama_formats", "llama_completions", "llama_vectors", "llama_calls"]
MODULES += ["responses"]
MODULES += ["python_worker", "ctranslate2_worker"]

for name in sys.argv[3:4] if any(sys.argv[3:]) else MODULES:
    importlib.import_module(name)

print(f"openai {openai.__version__}, Python {sys.version.split()[0]}", flush=True)
run_all()

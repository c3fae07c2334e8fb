#!/usr/bin/env bash
# Writes src/switchyard/v1 from proto/ (needs the `dev` extra). Optional argument: another folder to write to.
set -euo pipefail
cd "$(dirname "$0")"
out="${1:-src}"
mkdir -p "$out"
"${PYTHON:-python3}" -m grpc_tools.protoc -I ../../proto --python_out="$out" --mypy_out=quiet:"$out" ../../proto/switchyard/v1/*.proto

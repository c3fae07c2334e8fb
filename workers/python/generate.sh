#!/usr/bin/env bash
# Writes src/switchyard/v1 from proto/ (needs the `dev` extra). Optional argument: another folder to write to.
set -euo pipefail
cd "$(dirname "$0")"
out="${1:-src}"
# Without the comments, which would end up in the stubs and change them with every word.
protos="$(mktemp -d)"
trap 'rm -rf "$protos"' EXIT
mkdir -p "$out" "$protos/switchyard/v1"
for file in ../../proto/switchyard/v1/*.proto; do
  sed 's|//.*||' "$file" > "$protos/switchyard/v1/$(basename "$file")"
done
"${PYTHON:-python3}" -m grpc_tools.protoc -I "$protos" --python_out="$out" --mypy_out=quiet:"$out" \
  "$protos"/switchyard/v1/*.proto

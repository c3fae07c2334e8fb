#!/bin/sh
# docker/smoke.sh TARGET IMAGE: what every image must do, of one that Docker has: npm run images -- --help
exec node "$(dirname "$0")/../scripts/images.mjs" "$1" --built "$2"

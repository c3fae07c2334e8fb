#!/bin/sh
# docker/smoke.sh IMAGE: the first start on a read-only root prints a key; with it the gateway answers, without it not.
set -eu
name="switchyard-smoke-$$"
trap 'docker rm -f "$name" > /dev/null; docker volume rm "$name" > /dev/null' EXIT
docker run -d --name "$name" --read-only --tmpfs /tmp -v "$name:/app/data" -p 127.0.0.1::8000 "$1" > /dev/null
url="http://$(docker port "$name" 8000/tcp)"
tries=0
until curl -fsS "$url/health/live" > /dev/null 2>&1; do
  tries=$((tries + 1))
  if [ "$tries" -gt 120 ]; then docker logs "$name"; exit 1; fi
  sleep 0.5
done
key=$(docker logs "$name" 2>&1 | sed -n 's/^  \(sk-[^ ]*\)$/\1/p')
[ "$(curl -s -o /dev/null -w '%{http_code}' "$url/v1/models")" = 401 ]
curl -fsS "$url/v1/models" -H "Authorization: Bearer $key"
docker restart -t 25 "$name" > /dev/null
[ "$(docker logs "$name" 2>&1 | grep -c 'it made one')" = 1 ]
echo "
$1: one key, printed once"

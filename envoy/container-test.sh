#!/bin/sh
# The tour with Envoy from the official container image: sh envoy/container-test.sh PATH-TO-vsr-hallucination
# Filter and upstream run on the host; the Envoy service of docker-compose.yaml runs in containers on its network.
set -eu

tour=${1:?usage: container-test.sh PATH-TO-vsr-hallucination}
compose=$(dirname "$0")/docker-compose.yaml

for engine in docker podman; do
  if command -v "$engine" >/dev/null 2>&1 && "$engine" info >/dev/null 2>&1 && "$engine" compose version >/dev/null 2>&1
  then
    echo "container-test: using $engine compose"
    "$engine" compose -f "$compose" pull envoy
    exec "$tour" demo --once --envoy \
      "$engine compose -f $compose run --rm --no-deps -T -v {config}:/etc/envoy/tour.yaml:ro envoy envoy -c /etc/envoy/tour.yaml"
  fi
done
echo "container-test: SKIPPED: no running container engine with compose here (docker or podman)"

#!/bin/sh
# compose.sh NAME FILE: stop and start a member in a container of Docker Compose, with the settings of the step in FILE.
# NAME is a service, or, if the service is scaled, the name or id of a container. FILE is mounted in the container.
#   kohort migrate PLAN.yaml --restart 'compose.sh {client_id} config/{client_id}.properties'
set -eu
name=$1 file=$2
here=$(dirname -- "$0")

fail() {
    echo "compose.sh: $*" >&2
    exit 1
}

state() { # running, or another state; then the health if the container has a check: starting, healthy, unhealthy
    docker inspect --format '{{.State.Status}}{{if .State.Health}} {{.State.Health.Status}}{{end}}' -- "$container"
}

if docker compose config --services | grep -qxF -e "$name"; then
    container=$(docker compose ps --all --quiet "$name")
    [ -n "$container" ] || fail "the service $name has no container (docker compose create $name)"
    [ "$(echo "$container" | wc -l)" = 1 ] || fail "the service $name is scaled: give a container: docker compose ps"
else
    container=$(docker inspect --format '{{.Id}}' -- "$name") || fail "there is no service and no container $name"
fi
[ -w "$file" ] || fail "$file cannot be written by $(id -un)"
[ "$KOHORT_ACTION" = stop ] || "$here/settings.sh" "$file" --write

docker stop -- "$container" > /dev/null # waits until the process has ended, and kills it after stop_grace_period
case $(state) in running* | paused* | restarting*) fail "$name is $(state) after it was stopped" ;; esac
[ "$KOHORT_ACTION" != stop ] || exit 0

docker start -- "$container" > /dev/null || fail "$name does not start: docker logs $name"
sleep "${STAYS_UP_S:-5}"
while [ "$(state)" = "running starting" ]; do sleep 1; done
case $(state) in
    running | "running healthy") ;;
    *) fail "$name is $(state): docker logs $name" ;;
esac

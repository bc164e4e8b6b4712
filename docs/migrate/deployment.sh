#!/bin/sh
# deployment.sh DEPLOYMENT POD CONFIGMAP KEY: stop and start a member that is a pod of a Deployment, with the settings
# of the step in the ConfigMap, which all pods share. POD is its name or address; KEY is the properties file.
#   kohort migrate PLAN.yaml --restart 'deployment.sh billing {host} billing-config client.properties'
set -eu
name=$1 pod=$2 map=$3 key=$4 original=$3-before-$(printf %.8s "$KOHORT_PLAN") work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
create() { kubectl create configmap "$1" --from-file="$key=$2" --dry-run=client --output=yaml; } # as YAML
value() { kubectl get "configmap/$1" --output="go-template={{with index .data \"$key\"}}{{.}}{{end}}"; }
scale() { # BY
    replicas=$(kubectl get "deployment/$name" --output='jsonpath={.spec.replicas}')
    kubectl scale "deployment/$name" --replicas=$((replicas + $1))
}

exec 9> "$(dirname -- "$KOHORT_CONFIG")/$name.lock" && flock 9 # one pod after the other
if [ "$KOHORT_ACTION" != start ]; then
    case $pod in
        *[!0-9a-f.:]*) pod=pod/$pod ;;
        *) pod=$(kubectl get pods --field-selector="status.podIP=$pod" --output=name) ;;
    esac
    [ -n "$pod" ] || { echo "no pod has the address $2" >&2 && exit 1; }
fi
if [ "$KOHORT_ACTION" != stop ]; then
    if [ -z "$(kubectl get "configmap/$original" --ignore-not-found --output=name)" ]; then
        value "$map" > "$work/original"
        [ -s "$work/original" ] || { echo "the ConfigMap $map has no $key" >&2 && exit 1; }
        create "$original" "$work/original" | kubectl create --filename=-
    fi
    value "$original" > "$work/original"
    "$(dirname -- "$0")/settings.sh" "$work/original" > "$work/new"
    create "$map" "$work/new" | kubectl patch "configmap/$map" --type=merge --patch-file=/dev/stdin
fi
if [ "$KOHORT_ACTION" != start ]; then # one pod less, and this is the one
    kubectl annotate --overwrite "$pod" controller.kubernetes.io/pod-deletion-cost=-1000000
    sleep 1 && scale -1 # its controller has seen the mark
    echo "waiting until $pod has ended"
    kubectl wait --for=delete "$pod" --timeout=1h
fi
[ "$KOHORT_ACTION" = stop ] || { scale +1 && kubectl rollout status "deployment/$name" --watch --timeout=1h; }

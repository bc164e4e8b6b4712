#!/bin/sh
# statefulset.sh STATEFULSET MEMBER VOLUME KEY: stop and start a member that is a pod, with the settings of the step.
# MEMBER ends with the pod's ordinal; VOLUME is the volume with the ConfigMap, KEY the properties file in it.
#   kohort migrate PLAN.yaml --restart 'statefulset.sh billing {client_id} config client.properties'
set -eu
name=$1 ordinal=${2##*-} volume=$3 key=$4 pod=$1-${2##*-}
get() { kubectl get "$1" --ignore-not-found --output="jsonpath={$2}"; }
map() { get "$1" "$2.volumes[?(@.name==\"$volume\")].configMap.name"; }
fail() { echo "statefulset.sh: $*" >&2 && exit 1; }
scale() { # FROM TO: pods are stopped from the highest ordinal down, and started from 0 up
    until [ "$(get "statefulset/$name" .spec.replicas)" = "$1" ]; do
        flock -u 9 && echo "waiting until $name has $1 replicas, to have $2" && sleep 1 && flock 9
    done
    kubectl scale "statefulset/$name" --replicas="$2"
}
case $ordinal in '' | *[!0-9]*) fail "$2 does not end with a pod's ordinal" ;; esac
exec 9> "$(dirname -- "$KOHORT_CONFIG")/$name.lock" && flock 9 # one pod after the other
before=$(get "pod/$pod" .metadata.uid)
if [ "$KOHORT_ACTION" = stop ]; then
    [ -z "$before" ] || { scale $((ordinal + 1)) "$ordinal" && kubectl wait --for=delete "pod/$pod" --timeout=1h; }
    exit
fi
new=$("$(dirname -- "$0")/configmap.sh" "statefulset/$name" "$(map "statefulset/$name" .spec.template.spec)" "$key")
end=$(get "statefulset/$name" .spec.replicas) above=$((ordinal + 1)) how='"type":"OnDelete","rollingUpdate":null'
while [ "$above" -lt "$end" ] && [ "$(map "pod/$name-$above" .spec)" = "$new" ]; do above=$((above + 1)); done
if [ "$above" = "$end" ] && [ "$(map "pod/$pod" .spec)" != "$new" ]; then # a partition restarts the pods from it up
    how="\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"partition\":$ordinal}"
fi
pods="{\"spec\":{\"volumes\":[{\"name\":\"$volume\",\"configMap\":{\"name\":\"$new\"}}]}}"
kubectl patch "statefulset/$name" --patch="{\"spec\":{\"updateStrategy\":{$how},\"template\":$pods}}"
sleep 1 # the controller has seen this
if [ "$end" -le "$ordinal" ]; then scale "$ordinal" $((ordinal + 1)); fi
[ -n "${how##*OnDelete*}" ] || [ -z "$before" ] || kubectl delete "pod/$pod" --ignore-not-found
echo "waiting until $pod has started"
until now=$(get "pod/$pod" .metadata.uid) && [ -n "$now" ] && [ "$now" != "$before" ]; do sleep 1; done
kubectl wait --for=condition=Ready "pod/$pod" --timeout=1h && sleep "${STAYS_UP_S:-5}"
[ "$(map "pod/$pod" .spec)" = "$new" ] || fail "$pod has started with another ConfigMap than $new"
crashed=$(get "pod/$pod" '.status.containerStatuses[?(@.restartCount>0)].name')
[ -z "$crashed" ] || fail "$pod does not stay up: kubectl logs --previous $pod $crashed"

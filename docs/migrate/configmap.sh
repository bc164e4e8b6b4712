#!/bin/sh
# configmap.sh OBJECT CONFIGMAP KEY: print the name of a ConfigMap with the settings of the step. The one before the
# migration, which is not changed, is noted at the object (a StatefulSet); others get a name from what they contain.
set -eu
object=$1 map=$2 key=$3 plan=$(printf %.8s "$KOHORT_PLAN") work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

[ -n "$map" ] || { echo "configmap.sh: $object has no such volume with a ConfigMap" >&2 && exit 1; }
original=$(kubectl get "$object" --output="jsonpath={.metadata.annotations.kohort-$plan}")
if [ -z "$original" ]; then
    original=$map
    kubectl annotate "$object" "kohort-$plan=$original" >&2
fi
kubectl get "configmap/$original" --output="go-template={{with index .data \"$key\"}}{{.}}{{end}}" > "$work/original"
[ -s "$work/original" ] || { echo "configmap.sh: the ConfigMap $original has no $key" >&2 && exit 1; }
"$(dirname -- "$0")/settings.sh" "$work/original" > "$work/$key"
if cmp -s "$work/original" "$work/$key"; then
    echo "$original"
    exit
fi
new=${object#*/}-$plan-$(cksum < "$work/$key" | cut -d ' ' -f 1)
if [ -z "$(kubectl get "configmap/$new" --ignore-not-found --output=name)" ]; then
    kubectl create configmap "$new" --from-file="$work/$key" >&2
fi
echo "$new"

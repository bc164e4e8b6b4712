#!/bin/sh
# systemd.sh UNIT FILE: stop and start a member that is a unit of systemd, with the settings of the step in FILE.
#   kohort migrate PLAN.yaml --restart 'systemd.sh kafka-app@{instance} /etc/kafka-app/{instance}.properties'
set -eu
unit=$1 file=$2
here=$(dirname -- "$0")

fail() {
    echo "systemd.sh: $*" >&2
    exit 1
}

show() {
    systemctl show --property="$1" --value -- "$unit"
}

[ "$(show LoadState)" = loaded ] || fail "there is no unit $unit (systemctl status $unit)"
[ -w "$file" ] || fail "$file cannot be written by $(id -un)"
[ "$KOHORT_ACTION" = stop ] || "$here/settings.sh" "$file" --write

process=$(show MainPID)
systemctl stop -- "$unit" || fail "$unit cannot be stopped"
case $(show ActiveState) in
    inactive | failed) ;;
    *) fail "$unit is $(show ActiveState) after it was stopped" ;;
esac
while grep -qs '^State:.[^ZX]' "/proc/$process/status"; do sleep 0.2; done # KillMode=process
[ "$KOHORT_ACTION" != stop ] || exit 0

systemctl reset-failed -- "$unit" || : # restarts that are too quick are refused: StartLimitBurst
systemctl start -- "$unit" || fail "$unit does not start: journalctl --unit $unit"
process=$(show MainPID)
sleep "${STAYS_UP_S:-5}"
[ "$(show ActiveState) $(show MainPID)" = "active $process" ] || fail "$unit does not stay up: journalctl --unit $unit"

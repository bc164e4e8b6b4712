#!/bin/sh
# over-ssh.sh HOST SCRIPT [ARGUMENT...]: run a script of this folder on the host of the member, with what it needs.
#   kohort migrate PLAN.yaml --restart 'over-ssh.sh {host} systemd.sh app@{instance} /etc/app/{instance}.properties'
set -eu
host=$1 script=$2
shift 2
here=$(dirname -- "$0")

quoted() { # a word of a shell
    printf "'%s' " "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}

copied() { # FILE NAME: lines of a shell that write the file
    echo "cat > \"\$files\"/$2 <<'END OF A FILE'"
    cat -- "$1"
    echo 'END OF A FILE'
}

{
    # shellcheck disable=SC2016  # it is expanded on the host
    echo 'set -eu; files=$(mktemp -d); trap '\''rm -r "$files"'\'' EXIT'
    copied "$KOHORT_CONFIG" config.properties
    copied "$here/settings.sh" settings.sh
    copied "$here/$script" script.sh
    for name in KOHORT_ACTION KOHORT_PLAN KOHORT_REMOVE KOHORT_ROLLBACK KOHORT_GROUP KOHORT_CLIENT_ID; do
        printf 'export %s=' "$name"
        quoted "$(printenv "$name")"
        echo
    done
    # shellcheck disable=SC2016
    echo 'export KOHORT_CONFIG="$files/config.properties"; chmod +x "$files"/*.sh'
    # shellcheck disable=SC2016
    printf '"$files/script.sh" '
    for argument; do quoted "$argument"; done
    echo '< /dev/null'
} | ssh -o BatchMode=yes -- "$host" sh -s

#!/bin/sh
# demo.sh up|down: a broker and the group `billing` of three consumers on this machine, in the folder `demo`.
# demo.sh member NAME: restart, stop or start one of them, as the command of `kohort migrate --restart`.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd) port=${PORT:-19092}

start() { # NAME COMMAND...: in its own session, which outlives this script
    name=$1
    shift
    setsid "$@" >> "demo/$name.log" 2>&1 < /dev/null &
    echo "$!" > "demo/$name.pid"
}

consume() { # NAME: with the Python of kohort, which has confluent_kafka
    start "$1" "${PYTHON:-$(sed -n '1s/^#!//p' "$(command -v kohort)")}" "$here/consumer.py" "demo/$1.properties"
}

stop() { # NAME: returns when the process has ended
    process=$(cat "demo/$1.pid" 2> /dev/null) && kill "$process" || return 0
    while grep -qs '^State:.[^ZX]' "/proc/$process/status"; do sleep 0.1; done
    rm -f "demo/$1.pid"
}

case $1 in
    up)
        mkdir demo
        start broker kohort serve --listen "127.0.0.1:$port" --topic orders:6
        for name in billing-1 billing-2 billing-3; do
            printf '%s\n' "bootstrap.servers=127.0.0.1:$port" group.id=billing "client.id=$name" > demo/$name.properties
            consume "$name"
        done
        until kohort list -b "127.0.0.1:$port" 2> /dev/null | grep 'billing.* Stable  *3$'; do sleep 1; done
        ;;
    down) for file in demo/*.pid; do stop "$(basename "$file" .pid)"; done ;;
    member)
        [ "$KOHORT_ACTION" = stop ] || "$here/settings.sh" "demo/$2.properties" --write
        stop "$2"
        [ "$KOHORT_ACTION" = stop ] || consume "$2"
        ;;
esac

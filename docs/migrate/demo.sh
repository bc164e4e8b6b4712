#!/bin/sh
# demo.sh up|down: a broker and the group `billing` of three consumers on this machine, in the folder `demo`.
# demo.sh member NAME: restart, stop or start one of them, as the command of `kohort migrate --restart`.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd) port=${PORT:-19092}
fail() { echo "demo.sh: $*" >&2 && exit 1; }
groups() { kohort list -b "127.0.0.1:$port" 2> /dev/null; }

start() { # NAME COMMAND...: in its own session, which outlives this script
    name=$1 && shift
    setsid "$@" >> "demo/$name.log" 2>&1 < /dev/null &
    echo "$!" > "demo/$name.pid"
}

consume() { # NAME: with the Python of kohort, which has confluent_kafka
    start "$1" "${PYTHON:-$(sed -n '1s/^#!//p' "$(command -v kohort)")}" "$here/consumer.py" "demo/$1.properties"
}

stop() { # NAME: returns when the process has ended
    process=$(cat "demo/$1.pid" 2> /dev/null) || return 0
    kill "$process" 2> /dev/null || :
    while grep -qs '^State:.[^ZX]' "/proc/$process/status"; do sleep 0.1; done
    rm -f "demo/$1.pid"
}

case $1 in
    up)
        ! groups > /dev/null || fail "port $port is taken: PORT=19093 $0 up"
        mkdir demo 2> /dev/null || fail "there is a folder demo: $0 down; rm -r demo"
        start broker kohort serve --listen "127.0.0.1:$port" --topic orders:6
        until groups > /dev/null; do
            kill -0 "$(cat demo/broker.pid)" 2> /dev/null || fail "$(tail -n 1 demo/broker.log)"
        done
        for name in billing-1 billing-2 billing-3; do
            printf '%s\n' "bootstrap.servers=127.0.0.1:$port" group.id=billing "client.id=$name" > demo/$name.properties
            consume "$name"
        done
        until groups | grep 'billing.* Stable  *3$'; do sleep 1; done
        ;;
    down) for file in demo/*.pid; do stop "$(basename "$file" .pid)"; done ;;
    member) [ "$KOHORT_ACTION" = stop ] || "$here/settings.sh" "demo/$2.properties" --write
        stop "$2"
        [ "$KOHORT_ACTION" = stop ] || consume "$2" ;;
esac

#!/usr/bin/env bash
# Runs two gateways behind nginx on one PostgreSQL, before the demo backend: a device's pulls and its push go to different
# gateways, one gateway is killed, and the device goes on. Ends with status 0 if all of that was right.
#
#   examples/two-gateways/run.sh [RIND]        RIND is the program; by default the one on PATH
#
# Five ports from PORT (8800) on, on 127.0.0.1. Needs nginx, PostgreSQL and curl. Everything is written to a temporary
# directory, which is removed at the end.
set -euo pipefail

rind=${1:-rind}
port=${PORT:-8800}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
chmod 755 "$work"
PATH=$PATH:/usr/sbin
declare -A processes=()

say() { printf '\n== %s\n' "$1"; }

fail() {
    printf 'two-gateways: %s\n' "$1" >&2
    tail -n 5 "$work"/*.log >&2 || true
    exit 1
}

# start NAME COMMAND…: starts a program whose output goes to NAME.log.
start() {
    local name=$1
    shift
    "$@" >"$work/$name.log" 2>&1 &
    processes[$name]=$!
}

# PostgreSQL refuses to run as root.
as_database() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid postgres --regid postgres --clear-groups "$@"
    else
        "$@"
    fi
}

finish() {
    kill "${processes[@]}" 2>/dev/null || true
    wait
    [ ! -e "$work/data/postmaster.pid" ] || as_database "$programs/pg_ctl" -s -D "$work/data" stop -m fast || true
    rm -rf "$work"
}
trap finish EXIT

# until_ready NAME PORT [PATH]: waits until something answers there.
until_ready() {
    for _ in $(seq 300); do
        ! curl -s --noproxy "*" -o "$work/ready" "http://127.0.0.1:$2${3:-/}" || return 0
        kill -0 "${processes[$1]}" 2>/dev/null || fail "$1 has ended"
        sleep 0.1
    done
    fail "$1 does not answer on port $2"
}

start_gateway() {
    RIND_GATEWAY_LISTEN=127.0.0.1:$2 RIND_BACKEND_URL=http://127.0.0.1:$((port + 3)) \
        RIND_STATE_URL="postgresql://postgres@127.0.0.1:$((port + 4))/postgres?sslmode=disable" \
        start "$1" "$rind" serve --config "$here/rind.ini"
    until_ready "$1" "$2" /readyz
}

# sync QUERY [BODY]: asks nginx as Ada's device does; leaves the answer in $answer, the gateway's port in $gateway.
sync() {
    local body=() status
    [ $# -eq 1 ] || body=(-H 'Content-Type: application/json' -d "$2")
    status=$(curl -sS --noproxy '*' -o "$work/answer" -D "$work/head" -w '%{http_code}' -H 'Authorization: Bearer ada-token' \
        "${body[@]}" "http://127.0.0.1:$port/sync?schema_version=3&migration=null&$1")
    answer=$(cat "$work/answer")
    gateway=$(tr -d '\r' <"$work/head" | sed -nE 's/^X-Gateway: .*:([0-9]+)$/\1/p')
    [ "$status" = 200 ] || fail "$1 was answered with $status: $answer"
}

pull() {
    sync "last_pulled_at=$cursor"
    cursor=$(sed -nE 's/.*"timestamp" *: *([0-9]+).*/\1/p' "$work/answer")
    [ -n "$cursor" ] || fail "a pull has no timestamp: $answer"
    printf 'pull by the gateway on %s, cursor %s\n' "$gateway" "$cursor"
}

push() {
    sync "last_pulled_at=$cursor" \
        '{"tags":{"created":[{"id":"'"$1"'","label":"Label of '"$1"'"}],"updated":[],"deleted":[]}}'
    printf 'push of %s by the gateway on %s\n' "$1" "$gateway"
}

# expect_once ID: a new device must get the record exactly once.
expect_once() {
    local count own=$cursor
    cursor=null
    pull
    cursor=$own
    count=$(grep -o "\"id\":\"$1\"" "$work/answer" | wc -l)
    [ "$count" -eq 1 ] || fail "a new device gets $1 $count times: $answer"
}

programs=$(dirname "$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb "$(command -v initdb || true)" |
    grep -v '\*' | sort -V | tail -n 1)")
[ -x "$programs/initdb" ] || fail 'PostgreSQL is not installed: apt-get install postgresql'
for program in "$rind" nginx curl; do
    command -v "$program" >/dev/null || fail "there is no '$program'"
done

say 'PostgreSQL, the demo backend, two gateways, nginx'
[ "$(id -u)" -ne 0 ] || chown postgres "$work"
as_database "$programs/initdb" -D "$work/data" -U postgres -A trust >/dev/null
as_database "$programs/pg_ctl" -s -w -D "$work/data" -l "$work/postgres.log" \
    -o "-p $((port + 4)) -c listen_addresses=127.0.0.1 -c unix_socket_directories=" start
start backend "$rind" demo --backend-only --port $((port + 3))
until_ready backend $((port + 3))
start_gateway first $((port + 1))
start_gateway second $((port + 2))
mkdir "$work/nginx"
sed "s/127.0.0.1:880\([0-2]\)/127.0.0.1:@\1/; s/@0/$port/; s/@1/$((port + 1))/; s/@2/$((port + 2))/" \
    "$here/nginx.conf" >"$work/nginx.conf"
start nginx nginx -p "$work/nginx" -c "$work/nginx.conf" -e stderr
until_ready nginx "$port" /readyz

say 'A device pulls, pushes and pulls: the requests go to different gateways'
cursor=null
used=
for name in blue green red; do
    pull
    used+=" $gateway"
    push "$name"
    used+=" $gateway"
done
[ "$(tr ' ' '\n' <<<"$used" | sort -u | grep -c .)" -eq 2 ] || fail "only one gateway was asked:$used"
for name in blue green red; do expect_once "$name"; done

say "The first gateway is killed (kill -9), and the device goes on"
kill -9 "${processes[first]}"
wait "${processes[first]}" 2>/dev/null || true
unset 'processes[first]'
pull
push violet
pull
expect_once violet

say 'The first gateway comes back'
start_gateway first $((port + 1))
for _ in $(seq 20); do
    pull
    [ "$gateway" != $((port + 1)) ] || break
    sleep 1 # nginx leaves it out for fail_timeout
done
[ "$gateway" = $((port + 1)) ] || fail 'nginx asks the first gateway no more'
push white
pull
for name in blue green red violet white; do expect_once "$name"; done
say 'Everything was right'

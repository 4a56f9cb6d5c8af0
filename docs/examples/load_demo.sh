#!/bin/sh
# A DynamoDB-compatible server on this machine, with the sample data of this folder in it.
#
#   sh docs/examples/load_demo.sh                 in the foreground, until Ctrl-C
#   sh docs/examples/load_demo.sh --background    returns when it is ready; prints the variables to export
#   sh docs/examples/load_demo.sh --stop          stops the server in the background
#   sh docs/examples/load_demo.sh --is-here       succeeds if the server's binary is already here
#
#   --port N    try port N first (8000); the next free one is taken
#   --dir DIR   folder for database, log, pid and credentials (build/demo)
#
# $DYNOXIDE names the server's binary; without it, it is fetched once with npm.
set -eu

EXAMPLES=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$EXAMPLES/../.." && pwd)
PACKAGE=@dynoxide/linux-x64@1.2.1
# Without these, npm tries for minutes before it reports a missing network.
PATIENCE="--fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000"
CACHE=${DDBFS_CACHE:-$REPO/build/cache}
FETCHED=$CACHE/dynoxide-linux-x64@1.2.1
TABLES="EcomIndexerJobsTable EcomIndexSettingsTable ShopifyEntitiesTable"
DIR=$REPO/build/demo
PORT=8000
LAST_PORT=
MODE=foreground

fail() {
    echo "load_demo: $*" >&2
    exit 1
}

usage() {
    sed -n '2,12s/^# \{0,1\}//p' "$0"
}

read_options() {
    while [ $# -gt 0 ]; do
        case $1 in
        --port) PORT=${2:?--port wants a number} && shift ;;
        --dir) DIR=${2:?--dir wants a folder} && shift ;;
        --background) MODE=background ;;
        --stop) MODE=stop ;;
        --is-here) MODE=is-here ;;
        --help) usage && exit 0 ;;
        *) usage >&2 && exit 2 ;;
        esac
        shift
    done
    LAST_PORT=$((PORT + 50))
    case $DIR in
    /*) ;;
    *) DIR=$(pwd)/$DIR ;;
    esac
}

is_here() {
    [ -n "${DYNOXIDE:-}" ] || [ -f "$FETCHED/dynoxide" ]
}

# Unpacked beside its place and then moved, so that a broken download leaves nothing. The unquoted
# options are several words.
# shellcheck disable=SC2086
fetch_server() {
    command -v npm >/dev/null ||
        fail "npm was not found, and fetches the demo server once: install npm, or set DYNOXIDE=FILE"
    mkdir -p "$CACHE"
    scratch=$(mktemp -d "$CACHE/fetch.XXXXXX")
    (cd "$scratch" && npm pack --loglevel=error $PATIENCE "$PACKAGE" >npm.log 2>&1 &&
        tar -xzf ./*.tgz) || {
        sed 's/^/    /' "$scratch/npm.log" >&2
        rm -rf "$scratch"
        fail "npm could not fetch the demo server, $PACKAGE: check the network and npm's settings," \
            "or set DYNOXIDE=FILE to a local dynoxide"
    }
    rm -rf "$FETCHED"
    mv "$scratch/package" "$FETCHED"
    rm -rf "$scratch"
}

find_server() {
    is_here || fetch_server
    [ -z "${DYNOXIDE:-}" ] || return 0
    chmod +x "$FETCHED/dynoxide"
    DYNOXIDE=$FETCHED/dynoxide
}

# Environment and text, one pair a line; the text may be empty.
environments() {
    sed -n '/"environments"/,/}/s/^ *"\([^"]*\)": "\([^"]*\)".*/\1 \2/p' "$EXAMPLES/sample.json"
}

# The table descriptions of an environment, as members of a JSON array.
describe() {
    sed -e '1d' -e '$d' -e "s/\"TableName\": \"/&$1-/" "$EXAMPLES/tables.json"
}

# Writes the folders and the schema that `dynoxide import` reads.
lay_out() {
    rm -rf "$DIR/export"
    comma=
    echo '['
    environments | while read -r environment text; do
        [ -z "$comma" ] || echo ,
        comma=,
        describe "$environment"
        for table in $TABLES; do
            data=$DIR/export/$environment-$table/data
            mkdir -p "$data"
            grep -F -e "$text" "$EXAMPLES/ecommerce.$table.jsonl" >"$data/items.json" || :
        done
    done
    echo ']'
}

make_database() {
    mkdir -p "$DIR"
    lay_out >"$DIR/schema.json"
    rm -f "$DIR"/demo.db*
    "$DYNOXIDE" import --source "$DIR/export" --schema "$DIR/schema.json" \
        --output "$DIR/demo.db" --force >"$DIR/import.log" 2>&1 ||
        fail "the sample data could not be loaded; see $DIR/import.log"
}

# The pid of the server in the background, if it runs and is ours.
running_pid() {
    [ -f "$DIR/server.pid" ] || return 1
    pid=$(cat "$DIR/server.pid")
    tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -e "$DIR/demo.db" && echo "$pid"
}

stop() {
    if pid=$(running_pid); then
        kill "$pid"
        while kill -0 "$pid" 2>/dev/null && [ "$(state_of "$pid")" != Z ]; do sleep 0.1; done
    fi
    rm -f "$DIR/server.pid" "$DIR/server.port"
}

state_of() {
    sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null
}

# Succeeds when the server logs that it listens; fails when it has ended because its port is in use.
listens() {
    tries=0
    while [ $tries -lt 100 ] && kill -0 "$1" 2>/dev/null && [ "$(state_of "$1")" != Z ]; do
        grep -q 'listening on' "$DIR/server.log" && return 0
        tries=$((tries + 1))
        sleep 0.1
    done
    return 1
}

# Its own session, so that Ctrl-C in this terminal does not end it.
begin() {
    while [ "$PORT" -lt "$LAST_PORT" ]; do
        : >"$DIR/server.log" # the log of an earlier server has the same line
        setsid "$DYNOXIDE" serve --port "$PORT" --db-path "$DIR/demo.db" \
            >"$DIR/server.log" 2>&1 </dev/null &
        listens $! && echo $! >"$DIR/server.pid" && echo "$PORT" >"$DIR/server.port" && return 0
        kill $! 2>/dev/null || :
        PORT=$((PORT + 1))
    done
    fail "the demo server did not start; see $DIR/server.log"
}

# Separate files, so that no real credentials are read or sent.
write_profiles() {
    for profile in default controller; do
        echo "[$profile]"
        echo "aws_access_key_id = DEMO"
        echo "aws_secret_access_key = demo-secret-of-no-account"
        echo
    done >"$DIR/credentials"
    : >"$DIR/config"
}

write_environment() {
    cat >"$DIR/env.sh" <<END
export AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:$PORT
export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1
export AWS_SHARED_CREDENTIALS_FILE="$DIR/credentials"
export AWS_CONFIG_FILE="$DIR/config"
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_DEFAULT_PROFILE
END
}

show_environment() {
    echo "the demo server listens at http://127.0.0.1:$PORT; to use it:"
    echo
    sed 's/^/    /' "$DIR/env.sh"
    echo
}

read_options "$@"
case $MODE in
stop) stop && exit 0 ;;
is-here) is_here && exit 0 || exit 1 ;;
esac
find_server
stop
make_database
begin
write_profiles
write_environment
show_environment
if [ $MODE = foreground ]; then
    trap 'stop; exit 0' INT TERM HUP
    echo "Ctrl-C stops it."
    wait
fi

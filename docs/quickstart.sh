#!/bin/sh
# From a clone to the first record: builds ddbfs, starts a demo server with sample data, asks it.
#
#   sh docs/quickstart.sh          leaves the server running and says how to go on
#   sh docs/quickstart.sh --once   stops the server at the end
#   sh docs/quickstart.sh --stop   only stops the server
#
# On Debian 12, as root, it installs what is missing; else it says what to install.
set -eu

REPO=$(cd "$(dirname "$0")/.." && pwd)
cd "$REPO"
JOB=1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90
INDEX=kl7a9h55-shopify-e513a8-4
NEEDS="gcc libc6-dev meson ninja-build pkg-config libcurl4-openssl-dev libssl-dev zlib1g-dev
    npm:npm ca-certificates"

. tests/packages.sh

stop_server() {
    sh docs/examples/load_demo.sh --stop
}

build() {
    echo "building ddbfs into build/"
    mkdir -p build
    {
        [ -f build/build.ninja ] || meson setup build --buildtype=release
    } >build/quickstart.log 2>&1 && ninja -C build >>build/quickstart.log 2>&1 && return 0
    tail -n 40 build/quickstart.log >&2
    return 1
}

# Shows the command as one would type it, and runs it.
show() {
    echo "\$ $*"
    "$@"
    echo
}

session() {
    show ddbfs ls "/prod/jobs/by-index/shopify/$INDEX/latest"
    show ddbfs cat "/prod/jobs/by-id/$JOB"
    show ddbfs cat "/prod/index-settings/kl7a9h55/shopify-e513a8-4@/add_docs_config"
    show ddbfs cat "/prod/shops/cool-store.myshopify.com/access-token"
    show ddbfs explain "/prod/jobs/by-id/$JOB"
    show ddbfs check docs/examples/ecommerce.map.json
}

go_on() {
    echo "To go on by hand:"
    echo
    echo "    export PATH=\"$REPO/build/fs:\$PATH\""
    echo "    export DDBFS_MAP=\"$DDBFS_MAP\""
    sed 's/^/    /' build/demo/env.sh
    echo
    echo "The server stops with: sh docs/quickstart.sh --stop"
}

case ${1:-} in
--stop) stop_server && exit 0 ;;
--once) trap stop_server EXIT && trap 'exit 1' INT TERM HUP ;;
'') ;;
*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac

# The names are words of their own on purpose.
# shellcheck disable=SC2086
install_missing $NEEDS
build
sh docs/examples/load_demo.sh --background
. build/demo/env.sh
PATH=$REPO/build/fs:$PATH
DDBFS_MAP=$REPO/docs/examples/ecommerce.map.json
export PATH DDBFS_MAP
session
[ "${1:-}" = --once ] || go_on

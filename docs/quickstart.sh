#!/bin/sh
# From a clone to the first record: builds ddbfs, starts a demo server with sample data, mounts it.
#
#   sh docs/quickstart.sh          leaves mount and server there and says how to go on
#   sh docs/quickstart.sh --once   unmounts and stops the server at the end
#   sh docs/quickstart.sh --stop   only unmounts and stops the server
#
# On Debian 12, as root, it installs what is missing; else it says what to install.
set -eu

REPO=$(cd "$(dirname "$0")/.." && pwd)
cd "$REPO"
JOB=1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90
INDEX=kl7a9h55-shopify-e513a8-4
NEEDS="gcc libc6-dev meson ninja-build pkg-config libcurl4-openssl-dev libfuse3-dev libssl-dev
    zlib1g-dev libcjson-dev fuse3"
# Outside of the checkout, so that no indexer and no grep -r there walks into it; found again by its name.
MOUNT=/tmp/ddbfs-demo-$(id -u)-$(printf %s "$REPO" | cksum | cut -d' ' -f1)
SHOWN_LINES=12

. tests/packages.sh

usage() {
    sed -n '2,8s/^# \{0,1\}//p' "$0"
}

is_mounted() {
    findmnt -n --mountpoint "$MOUNT" >/dev/null
}

# The mountpoint comes by standard input, so that grep does not find itself.
# shellcheck disable=SC2062
daemon_lives() {
    echo "$MOUNT" | grep -qsF -f - /proc/[0-9]*/cmdline
}

# Also a mount whose daemon has died. The daemon ends by itself, a moment later.
unmount() {
    is_mounted || return 0
    fusermount3 -u "$MOUNT" || {
        echo "quickstart: leave $MOUNT first (cd), and close what is open in it" >&2
        return 1
    }
    tries=50
    while daemon_lives && [ $tries -gt 0 ]; do
        tries=$((tries - 1))
        sleep 0.1
    done
}

stop_all() {
    unmount || stopped=no
    [ "${stopped:-yes}" = no ] || [ ! -d "$MOUNT" ] || rmdir "$MOUNT" || true
    sh docs/examples/load_demo.sh --stop && [ "${stopped:-yes}" = yes ]
}

# npm only fetches the demo server, and only when nobody has done so before.
needs() {
    echo "$NEEDS"
    sh docs/examples/load_demo.sh --is-here || echo "npm:npm ca-certificates"
}

build() {
    mkdir -p build
    {
        [ -f build/build.ninja ] || meson setup build --buildtype=release
    } >build/quickstart.log 2>&1 && ninja -C build fs/ddbfs >>build/quickstart.log 2>&1 && return 0
    tail -n 40 build/quickstart.log >&2
    echo "quickstart: the build failed; the whole log is build/quickstart.log" >&2
    return 1
}

start_server() {
    sh docs/examples/load_demo.sh --background >build/quickstart.log && return 0
    echo "quickstart: ddbfs itself is built (build/fs/ddbfs --help); only the demo is missing" >&2
    return 1
}

# show WHY COMMAND: the command as one would type it, and the beginning of what it prints.
show() {
    echo "# $1"
    echo "\$ $2"
    eval "$2" >build/quickstart.out
    sed "${SHOWN_LINES}q" build/quickstart.out
    more=$(($(wc -l <build/quickstart.out) - SHOWN_LINES))
    [ $more -le 0 ] || echo "  … ($more more lines)"
    echo
}

# In /tmp somebody else may have made a folder of this name, or a link.
make_mountpoint() {
    mkdir -m 700 "$MOUNT" 2>/dev/null && return 0
    [ ! -L "$MOUNT" ] && [ "$(stat -c '%u %a %F' "$MOUNT")" = "$(id -u) 700 directory" ] && return 0
    echo "   $MOUNT is not a folder of yours alone; remove it, and start again." >&2
    return 1
}

# False, after the reason, where this machine does not let us mount (in most containers).
mount_demo() {
    unmount && make_mountpoint || return 1
    [ -c /dev/fuse ] || {
        echo "   There is no /dev/fuse here, so nothing is mounted: ddbfs cat and ls must do."
        return 1
    }
    ddbfs mount "$MOUNT" && return 0
    echo "   It could not be mounted, for the reason above: ddbfs cat and ls must do."
    return 1
}

mount_session() {
    show "A record is a file. The directories above it cost nothing; this is 1 request." \
        "cat $MOUNT/prod/shops/cool-store.myshopify.com/SETTINGS"
    show "Which of the latest jobs have failed? The listing brings the records: 1 request." \
        "grep -rl '\"status\": \"FAILED\"' $MOUNT/prod/jobs/by-index/shopify/$INDEX/latest"
    show "What is in progress, the latest first. Sizes and dates are real." \
        "ls -lt $MOUNT/prod/jobs/by-status/$INDEX/IN_PROGRESS"
    show "A directory that can't be listed says so, and what to type." \
        "cat $MOUNT/prod/jobs/by-id/README"
    show "What all of this has cost so far." \
        "cat $MOUNT/.ddbfs/stats.json"
}

session() {
    show "A job by its id. An index knows where the row is: 2 requests." \
        "ddbfs cat /prod/jobs/by-id/$JOB"
    show "The latest jobs of a search index, newest first: 1 request." \
        "ddbfs ls /prod/jobs/by-index/shopify/$INDEX/latest | head -5"
    show "One attribute of a record." \
        "ddbfs cat /prod/index-settings/kl7a9h55/shopify-e513a8-4@/add_docs_config"
    show "A value alone, ready for \$(…): the token of the shop's latest session." \
        "ddbfs cat /prod/shops/cool-store.myshopify.com/access-token"
    show "What a path reads, what it costs, and the same with the aws command. Nobody is asked." \
        "ddbfs explain /prod/jobs/by-id/$JOB"
    show "Whether the map, which says all of this, fits the tables." \
        "ddbfs check docs/examples/ecommerce.map.json"
}

go_on() {
    ! is_mounted || {
        echo "The mount stays: look around in $MOUNT"
        echo
    }
    echo "The demo server goes on running. To ask it yourself, paste this; then type ddbfs ls / and"
    echo "follow the directories:"
    echo
    echo "    export PATH=\"$REPO/build/fs:\$PATH\""
    echo "    export DDBFS_MAP=\"$DDBFS_MAP\""
    sed 's/^/    /' build/demo/env.sh
    echo
    echo "Without the map there is tables/, which needs none:"
    echo
    echo "    unset DDBFS_MAP; ddbfs ls /tables"
    echo
}

# Said by whichever run it was: the demo is only the beginning.
own_tables() {
    echo "Your own tables need no map: ddbfs ls /tables. A map gives them paths of your own:"
    echo "ddbfs init 'prod-*' drafts one (docs/map.md says how to go on), and ddbfs check proves it."
    echo "All commands and options: ddbfs --help"
    echo "Ask your own account in a fresh shell: one with the exports of the demo asks the demo's server."
}

case ${1:-} in
--stop)
    stop_all || exit 1
    echo "The demo is unmounted, and its server stopped."
    exit 0
    ;;
--once) trap stop_all EXIT && trap 'exit 1' INT TERM HUP ;;
'') ;;
--help) usage && exit 0 ;;
*) usage >&2 && exit 2 ;;
esac

# The names are words of their own on purpose.
# shellcheck disable=SC2046
install_missing $(needs)
echo "1. Building ddbfs into build/."
build
echo "2. Starting a DynamoDB-compatible server on this machine, with sample data."
start_server
# shellcheck source=/dev/null
. build/demo/env.sh
PATH=$REPO/build/fs:$PATH
DDBFS_MAP=$REPO/docs/examples/ecommerce.map.json
export PATH DDBFS_MAP
echo "3. Mounting it at $MOUNT."
if mount_demo; then
    echo "   A path is a question; each of these could be typed as it stands."
    echo
    mount_session
    echo "4. The same without a mount: in scripts, and where there is no FUSE."
else
    echo "4. Asking it. A path is a question; each of these could be typed as it stands."
fi
echo
session
if [ "${1:-}" = --once ]; then
    echo "The demo is unmounted now, and its server stops. To keep it and try more:"
    echo "    sh docs/quickstart.sh"
else
    go_on
    echo "Both end with: sh docs/quickstart.sh --stop"
fi
echo
own_tables

#!/bin/sh
# Builds ddbfs, makes a snapshot of sample data, mounts it and shows a session. It needs no server and no network.
#
#   sh docs/quickstart.sh                   unmounts at the end; the snapshot stays in build/demo.ddb
#   sh docs/quickstart.sh --keep            leaves the mount, and prints next steps
#   sh docs/quickstart.sh --server          shows the same session with a DynamoDB-compatible server
#   sh docs/quickstart.sh --server --keep   leaves the mount and the server
#   sh docs/quickstart.sh --stop            unmounts, and stops the server
#
# On Debian 12, as root, it installs missing packages; otherwise it prints their names.
set -eu

REPO=$(cd "$(dirname "$0")/.." && pwd)
cd "$REPO"
JOB=1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90
INDEX=kl7a9h55-shopify-e513a8-4
NEEDS="gcc libc6-dev meson ninja-build pkg-config libcurl4-openssl-dev libfuse3-dev libssl-dev
    zlib1g-dev libcjson-dev libsqlite3-dev libedit-dev fuse3"
# Outside of the checkout, so that no indexer and no grep -r enters it. The name is the same in each run.
MOUNT=/tmp/ddbfs-demo-$(id -u)-$(printf %s "$REPO" | cksum | cut -d' ' -f1)
# Apart from a release build in build/, and with -O1, which takes a third less time to compile.
BUILD=build/quick
DDBFS=$BUILD/fs/ddbfs
SNAPSHOT=build/demo.ddb
SHOWN_LINES=12
WITH_SERVER=
KEEP=

. tests/packages.sh

usage() {
    sed -n '2,10s/^# \{0,1\}//p' "$0"
}

is_mounted() {
    findmnt -n --mountpoint "$MOUNT" >/dev/null
}

# grep reads the mountpoint from standard input; in its arguments it would find itself.
# shellcheck disable=SC2062
daemon_lives() {
    echo "$MOUNT" | grep -qsF -f - /proc/[0-9]*/cmdline
}

# report PROBLEM: prints it, and the reason that hides all others, and fails.
report() {
    echo "quickstart: $1" >&2
    free=$(df -Pk build 2>/dev/null | awk 'NR == 2 { print $4 }')
    [ "${free:-1024}" -ge 1024 ] ||
        echo "quickstart: the disk of $REPO/build is full; free some space, then repeat this command" >&2
    return 1
}

# Why fusermount3, which has said so itself, could not unmount.
why_mounted() {
    if [ -e /etc/mtab ]; then
        echo "if $MOUNT is in use, leave it (cd) and close its files, then repeat this command"
    else
        echo "fusermount3 needs /etc/mtab; as root: ln -s /proc/self/mounts /etc/mtab; then repeat this command"
    fi
}

# Also unmounts a mount whose daemon has died. A live daemon ends a moment later.
unmount() {
    is_mounted || return 0
    fusermount3 -u "$MOUNT" || {
        echo "quickstart: $(why_mounted)" >&2
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

# npm only fetches the demo server, and only if it is not in the cache.
needs() {
    echo "$NEEDS"
    [ -z "$WITH_SERVER" ] || sh docs/examples/load_demo.sh --is-here || echo "npm:npm ca-certificates"
}

run_build() {
    [ -f $BUILD/build.ninja ] || {
        echo "   meson looks for the compiler and the libraries."
        meson setup $BUILD --buildtype=release -Doptimization=1 >build/quickstart.log 2>&1 || return 1
    }
    echo "   ninja compiles; on two processors, a first build takes about 10 s."
    ninja -C $BUILD fs/ddbfs >>build/quickstart.log 2>&1
}

build() {
    mkdir -p build
    : >build/quickstart.log
    run_build && return 0
    tail -n 40 build/quickstart.log >&2
    report "the build failed; the complete log is build/quickstart.log"
}

start_server() {
    sh docs/examples/load_demo.sh --background >build/quickstart.log && return 0
    report "ddbfs is built ($DDBFS --help), but the demo server did not start"
}

# show WHY COMMAND: prints the command and the beginning of its output.
show() {
    echo "# $1"
    echo "\$ $2"
    eval "$2" >build/quickstart.out || report "the command above failed"
    sed "${SHOWN_LINES}q" build/quickstart.out
    more=$(($(wc -l <build/quickstart.out) - SHOWN_LINES))
    [ $more -le 0 ] || echo "  … ($more more lines)"
    echo
}

# In /tmp, another user may have made a folder or a link of this name.
make_mountpoint() {
    reason=$(mkdir -m 700 "$MOUNT" 2>&1) && return 0
    if [ ! -L "$MOUNT" ] && [ ! -e "$MOUNT" ]; then
        echo "   $reason" >&2
        return 1
    fi
    [ ! -L "$MOUNT" ] && [ "$(stat -c '%u %a %F' "$MOUNT")" = "$(id -u) 700 directory" ] && return 0
    echo "   $MOUNT belongs to another user or is open to others; remove it and start again." >&2
    return 1
}

# Prints the reason and fails if this machine allows no mounts, as in most containers.
mount_demo() {
    unmount && make_mountpoint || return 1
    [ -c /dev/fuse ] || {
        echo "   /dev/fuse was not found, so nothing is mounted: use ddbfs cat and ddbfs ls."
        return 1
    }
    # The options are several words.
    # shellcheck disable=SC2086
    $DDBFS mount $OPTIONS "$MOUNT" && return 0
    echo "   The mount failed for the reason above: use ddbfs cat and ddbfs ls."
    return 1
}

mount_session() {
    show "An item is a file. The directories above it are read without a request." \
        "cat $MOUNT/prod/shops/cool-store.myshopify.com/SETTINGS"
    show "Which of the latest jobs failed? The listing contains the items." \
        "grep -rl '\"status\": \"FAILED\"' $MOUNT/prod/jobs/by-index/shopify/$INDEX/latest"
    show "The jobs in progress, latest first, with their sizes and dates." \
        "ls -lt $MOUNT/prod/jobs/by-status/$INDEX/IN_PROGRESS"
    show "The README of a directory that cannot list its names." \
        "cat $MOUNT/prod/jobs/by-id/README"
    show "The requests and the cost so far." \
        "cat $MOUNT/.ddbfs/stats.json"
}

session() {
    show "A job by its id. An index has its key." \
        "$DDBFS cat $OPTIONS /prod/jobs/by-id/$JOB"
    show "The latest jobs of a search index, newest first." \
        "$DDBFS ls $OPTIONS /prod/jobs/by-index/shopify/$INDEX/latest | head -5"
    show "One attribute of an item." \
        "$DDBFS cat $OPTIONS /prod/index-settings/kl7a9h55/shopify-e513a8-4@/add_docs_config"
    show "A value alone, for use in \$(…): the token of the shop's latest session." \
        "$DDBFS cat $OPTIONS /prod/shops/cool-store.myshopify.com/access-token"
    show "The requests and the cost of a path in DynamoDB, and an equal aws command. No item is read." \
        "$DDBFS explain --map docs/examples/ecommerce.map.json /prod/jobs/by-id/$JOB"
}

own_tables() {
    echo "Your own tables need no map: $DDBFS ls /tables. A map defines shorter paths:"
    echo "$DDBFS init 'prod-*' drafts it (docs/guides/your-own-table.md), and ddbfs check checks it."
    echo "An export of a table to S3 is a snapshot after $DDBFS import (docs/snapshot.md)."
    echo "All commands and options: $DDBFS --help"
}

# After --server --keep.
server_variables() {
    echo "The demo server is still running. To use it, paste these lines; then type ddbfs ls / and"
    echo "follow the directories:"
    echo
    echo "    export PATH=\"$REPO/$BUILD/fs:\$PATH\""
    echo "    export DDBFS_MAP=\"$DDBFS_MAP\""
    sed 's/^/    /' build/demo/env.sh
    echo
    echo "Use a new shell for your own account: a shell with these exports uses the demo server."
}

prepare_server() {
    echo "2. Starting a DynamoDB-compatible server on this machine, with sample data."
    start_server
    # shellcheck source=/dev/null
    . build/demo/env.sh
    DDBFS_MAP=$REPO/docs/examples/ecommerce.map.json
    export DDBFS_MAP
    OPTIONS=
}

prepare_snapshot() {
    echo "2. Importing sample data into the snapshot $SNAPSHOT."
    DDBFS=$DDBFS sh docs/examples/make_demo.sh $SNAPSHOT >build/quickstart.log 2>&1 || {
        cat build/quickstart.log >&2
        report "ddbfs is built ($DDBFS --help), but $SNAPSHOT could not be made for the reason above"
        return 1
    }
    OPTIONS="--snapshot $SNAPSHOT"
}

go_on() {
    ! is_mounted || echo "The mount is still there: $MOUNT"
    [ -z "$WITH_SERVER" ] || server_variables
    echo "To end the demo: sh docs/quickstart.sh --stop"
}

stop_demo() {
    stop_all || exit 1
    echo "The demo is unmounted, and its server has stopped."
    exit 0
}

for option in "$@"; do
    case $option in
    --stop) stop_demo ;;
    --server) WITH_SERVER=yes ;;
    --keep) KEEP=yes ;;
    --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
done
# A reader such as head may have closed the output by then.
[ -n "$KEEP" ] || trap 'stop_all >/dev/null' EXIT
trap 'exit 1' INT TERM HUP PIPE

# The names are words of their own on purpose.
# shellcheck disable=SC2046
install_missing $(needs)
echo "1. Building ddbfs into $BUILD."
build
if [ -n "$WITH_SERVER" ]; then prepare_server; else prepare_snapshot; fi
echo "3. Mounting it at $MOUNT."
if mount_demo; then
    echo "   Each of these commands can be typed."
    echo
    mount_session
    echo "4. The same without a mount, for scripts and machines without FUSE."
else
    echo "4. Reading without a mount. Each of these commands can be typed."
fi
echo
session
if [ -n "$KEEP" ]; then
    go_on
else
    echo "The demo is unmounted now. To mount it again:"
    echo "    mkdir -p ~/ddbfs-demo && $DDBFS mount ${OPTIONS:---snapshot $SNAPSHOT} ~/ddbfs-demo"
fi
echo
own_tables

#!/bin/sh
# Builds ddbfs with gcc and clang, runs every test, and ends with one line:
# "N passed, N failed" (and ", N skipped"). More arguments go to pytest: sh tests/run.sh -k proxy
set -u

cd "$(dirname "$0")/.." || exit 2
REPO=$(pwd)
# Debian's own programs first: its python3 is the one that has pytest and boto3.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
export PATH
exec </dev/null

. tests/packages.sh

BUILD_NEEDS="gcc libc6-dev clang libclang-rt-14-dev meson ninja-build pkg-config
    libcurl4-openssl-dev libfuse3-dev libssl-dev zlib1g-dev libcjson-dev"
TEST_NEEDS="python3-pytest python3-pytest-xdist python3-boto3 python3-jsonschema awscli
    java:openjdk-17-jre-headless npm:npm git:git ca-certificates mandoc
    fuse3 jq less mc nano perl rsync tmux util-linux valgrind vim:vim
    dbus-x11 imagemagick pcmanfm xdotool xvfb"

SANITIZED="-Dwerror=true -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1
    -Ddebug=true"
RELEASE="-Dbuildtype=release -Dwerror=true -Dbench=true"

# Steps that failed without a failing test of their own, such as a build; the tally counts them.
BROKEN=

step() {
    echo "== $*"
}

broken() {
    echo "FAILED: $1" >&2
    BROKEN="$BROKEN --broken $1"
}

# build FOLDER COMPILER OPTIONS...
build() {
    folder=$1 compiler=$2
    shift 2
    step "$folder ($compiler)"
    mkdir -p "$folder"
    again=
    [ ! -f "$folder/build.ninja" ] || again=--reconfigure
    CC=$compiler meson setup $again "$folder" "$@" >"$folder/log" 2>&1 &&
        ninja -C "$folder" >>"$folder/log" 2>&1 && return 0
    tail -n 60 "$folder/log"
    broken "$folder"
}

# unit FOLDER: its TAP programs. Old results must not count when meson itself fails.
unit() {
    step "unit tests of $1"
    rm -f "$1/meson-logs/testlog.json"
    meson test -C "$1" --no-rebuild --print-errorlogs >"$1/log" 2>&1 || tail -n 200 "$1/log"
}

programs() {
    step "tests of the programs"
    rm -f "$REPO/build-asan/pytest.xml"
    # Two at once: each of them starts a server in Java, whatever the machine has.
    timeout -k 10 1800 python3 -m pytest tests -q -n 2 \
        --junit-xml="$REPO/build-asan/pytest.xml" "$@"
    # 1 says that tests failed, which the tally sees for itself.
    code=$?
    [ $code -le 1 ] || broken "pytest-exit-code-$code"
    [ $code -ne 1 ] || BROKEN="$BROKEN --must-fail"
}

# The names are words of their own on purpose, here and below.
# shellcheck disable=SC2086
install_missing $BUILD_NEEDS $TEST_NEEDS || {
    echo "0 passed, 1 failed"
    exit 2
}

# shellcheck disable=SC2086
build build-asan gcc $SANITIZED
# shellcheck disable=SC2086
build build-clang clang $SANITIZED -Dfuzz=true
# shellcheck disable=SC2086
build build-release gcc $RELEASE

DDBFS=$REPO/build-asan/fs/ddbfs
DDBFS_RELEASE=$REPO/build-release/fs/ddbfs
DDBFS_RENDER=$REPO/build-asan/tests/unit/render
DDBFS_TEST_DATA=$REPO/tests
PYTHONDONTWRITEBYTECODE=1
export DDBFS DDBFS_RELEASE DDBFS_RENDER DDBFS_TEST_DATA PYTHONDONTWRITEBYTECODE

unit build-asan
unit build-clang
programs "$@"

# shellcheck disable=SC2086
exec python3 tests/tally.py $BROKEN --junit build-asan/pytest.xml \
    --meson build-asan/meson-logs/testlog.json --meson build-clang/meson-logs/testlog.json

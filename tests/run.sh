#!/bin/sh
# Builds ddbfs with gcc and clang, runs every test, and ends with one line:
# "N passed, N failed" (and ", N skipped"). More arguments go to pytest: sh tests/run.sh -k proxy
#
# sh tests/run.sh --quick [FOLDER|FILE...] [-k WORD]   while one works: gcc's tree alone, its unit
#     tests, and those that are named, such as tests/cli, against the quicker of the two servers
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
    python3-prometheus-client
    java:openjdk-17-jre-headless npm:npm git:git ca-certificates mandoc
    clang-format clang-tidy shellcheck
    fuse3 jq less mc nano perl rsync tmux util-linux valgrind vim:vim
    dbus-x11 imagemagick pcmanfm xdotool xvfb
    fish mlr:miller watch:procps rg:ripgrep sqlite3 zsh"

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

# clang-tidy's findings, by the database of build-clang; .clang-tidy says what it looks for.
tidy() {
    step "clang-tidy"
    run-clang-tidy -quiet -j "$(nproc)" -p build-clang "$REPO/(core|fs)/.*\\.c\$" \
        >build-clang/tidy.log 2>&1 && return 0
    grep -E "(error|warning): " build-clang/tidy.log | sort -u
    broken clang-tidy
}

programs() {
    step "tests of the programs"
    rm -f "$REPO/build-asan/pytest.xml"
    # Twice as many as a small machine has cores: most tests wait for a server or a clock.
    timeout -k 10 3000 python3 -m pytest -q -n 4 --junit-xml="$REPO/build-asan/pytest.xml" "$@"
    # 1 says that tests failed, which the tally sees for itself.
    code=$?
    [ $code -le 1 ] || broken "pytest-exit-code-$code"
    [ $code -ne 1 ] || BROKEN="$BROKEN --must-fail"
}

# What is asked for while one works. Nothing is installed for it, and no program without sanitizers
# is built, so that tests of memory are skipped.
quick() {
    JUNIT=
    # shellcheck disable=SC2086
    build build-asan gcc $SANITIZED
    [ -z "$BROKEN" ] || return
    DDBFS_SERVERS=${DDBFS_SERVERS:-dynoxide} DDBFS_RELEASE=none
    export DDBFS_SERVERS DDBFS_RELEASE
    unit build-asan
    case ${1:-} in
    -*) set -- tests "$@" ;;
    esac
    [ $# -eq 0 ] || {
        JUNIT="--junit build-asan/pytest.xml"
        programs "$@"
    }
}

DDBFS=$REPO/build-asan/fs/ddbfs
DDBFS_RELEASE=$REPO/build-release/fs/ddbfs
DDBFS_RENDER=$REPO/build-asan/tests/unit/render
DDBFS_TEST_DATA=$REPO/tests
PYTHONDONTWRITEBYTECODE=1
export DDBFS DDBFS_RELEASE DDBFS_RENDER DDBFS_TEST_DATA PYTHONDONTWRITEBYTECODE

if [ "${1:-}" = --quick ]; then
    shift
    quick "$@"
    # shellcheck disable=SC2086
    exec python3 tests/tally.py $BROKEN $JUNIT --meson build-asan/meson-logs/testlog.json
fi

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

tidy
unit build-asan
unit build-clang
programs tests "$@"

# shellcheck disable=SC2086
exec python3 tests/tally.py $BROKEN --junit build-asan/pytest.xml \
    --meson build-asan/meson-logs/testlog.json --meson build-clang/meson-logs/testlog.json

#!/bin/sh
# Builds ddbfs with gcc and clang, runs the tests, and ends with one line:
# "N passed, N failed" (and ", N skipped"). Further arguments go to pytest: sh tests/run.sh -k proxy
#
# sh tests/run.sh --quick [FOLDER|FILE...] [-k WORD]   while you work: one build with gcc, its unit
#     tests, and the named tests, such as tests/cli, against dynoxide only
# sh tests/run.sh --long [...]   everything: also the tests marked "long", each test against both
#     servers, clang-tidy of every file, the unit tests of a second compiler, a minute of each fuzz target,
#     and ten minutes of simulated lives
set -u

cd "$(dirname "$0")/.." || exit 2
REPO=$(pwd)
# Debian's own programs first: its python3 is the one that has pytest and boto3.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
export PATH
exec </dev/null

. tests/packages.sh

BUILD_NEEDS="ccache gcc libc6-dev clang libclang-rt-14-dev meson ninja-build pkg-config
    libcurl4-openssl-dev libfuse3-dev libssl-dev zlib1g-dev libcjson-dev libsqlite3-dev
    libedit-dev"
TEST_NEEDS="python3-pytest python3-pytest-xdist python3-boto3 python3-jsonschema awscli
    python3-prometheus-client
    java:openjdk-17-jre-headless npm:npm git:git ca-certificates mandoc
    clang-format clang-tidy shellcheck
    fuse3 jq less mc nano perl rsync tmux util-linux valgrind vim:vim
    dbus-x11 gio:libglib2.0-bin imagemagick pcmanfm xdotool xvfb
    fish mlr:miller watch:procps rg:ripgrep sqlite3 strace systemd-analyze:systemd zsh"

# A second compiler's warnings, its check of pointers, and the fuzz targets on their seeds.
SMOKE="-Dwerror=true -Dfuzz=true -Doptimization=0 -Ddebug=false"
RELEASE="-Dbuildtype=release -Dwerror=true -Dtests=false"

# The logs of the steps, and a file NAME.failed for each step that failed.
STEPS=$REPO/build-asan/steps

now() {
    date +%s
}

# used NAME: the processor seconds of this shell and of all that it has waited for, in USER_S and SYS_S.
used() {
    times >"$STEPS/$1.times"
    # shellcheck disable=SC2046
    set -- $(awk '{ split($1, u, /[ms]/); split($2, s, /[ms]/); user += u[1] * 60 + u[2]; sys += s[1] * 60 + s[2] }
        END { printf "%d %d\n", user, sys }' "$STEPS/$1.times")
    USER_S=$1 SYS_S=$2
}

# step NAME COMMAND...: runs it, prints its duration, and if it fails the end of its output.
step() {
    name=$1 begin=$(now)
    shift
    used "$name"
    user_s=$USER_S sys_s=$SYS_S
    if "$@" >"$STEPS/$name.log" 2>&1; then
        used "$name"
        echo "== $name: $(($(now) - begin)) s, user $((USER_S - user_s)) s, sys $((SYS_S - sys_s)) s"
        return 0
    fi
    : >"$STEPS/$name.failed"
    {
        echo "== $name: FAILED after $(($(now) - begin)) s; the end of $STEPS/$name.log:"
        grep -vE '^\[[0-9]+/[0-9]+\] (Compil|Link)ing' "$STEPS/$name.log" | tail -n 60 | sed 's/^/   /'
    }
    return 1
}

# build FOLDER COMPILER OPTIONS...: TARGETS, or everything.
# shellcheck disable=SC2086
build() {
    folder=$1 compiler=$2
    shift 2
    again=
    [ ! -f "$folder/build.ninja" ] || again=--reconfigure
    # meson finds ccache by itself only if CC is not set.
    ! command -v ccache >/dev/null || compiler="ccache $compiler"
    CC=$compiler meson setup $again "$folder" "$@" &&
        { [ -z "$again" ] || meson configure "$folder" "$@"; } && # setup ignores further c_args
        ninja -C "$folder" $TARGETS
}

# A failed check of undefined behaviour is a trap, which AddressSanitizer reports with its line (handle_sigill): the
# texts of 400,000 checks took a third of each start and of the build. Their pointers would be relocated in a
# position-independent program. The release build has the warnings of gcc that need more optimization.
sanitized() {
    quiet=''
    [ "$2" != gcc ] || quiet=-Wno-maybe-uninitialized
    build "$@" -Dwerror=true -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=g -Ddebug=true \
        -Db_staticpic=false \
        "-Dc_args=-fno-pie -g1 -fsanitize-undefined-trap-on-error $quiet" \
        "-Dc_link_args=-no-pie -fsanitize-undefined-trap-on-error"
}

# units FOLDER [MESON-OPTIONS...]: its TAP programs. The tally counts failing tests, so that only a
# run without results is a failed step.
units() {
    folder=$1
    shift
    rm -f "$folder/meson-logs/testlog.json"
    meson test -C "$folder" --no-rebuild --print-errorlogs "$@" || [ -s "$folder/meson-logs/testlog.json" ]
}

# What no test of the programs waits for. The release build comes first, because some of them need it.
aside() {
    # shellcheck disable=SC2086
    step build-release build build-release gcc $RELEASE
    : >"$STEPS/build-release.done"
    TARGETS=$CLANG_TARGETS
    # shellcheck disable=SC2086
    step build-clang $CLANG && step units-clang units build-clang $CLANG_UNITS
    # shellcheck disable=SC2086
    step clang-tidy python3 tests/tidy.py $TIDY build-clang
    [ -z "$FUZZ_S" ] || step fuzz sh tests/fuzz/run "$FUZZ_S"
}

programs() {
    begin=$(now)
    used programs
    user_s=$USER_S sys_s=$SYS_S
    rm -f "$REPO/build-asan/pytest.xml"
    # Three times as many as a small machine has cores: most tests wait for a server or a clock.
    timeout -k 10 "$PROGRAMS_S" python3 -m pytest -q -n 6 --dist loadgroup \
        --junit-xml="$REPO/build-asan/pytest.xml" "$@"
    code=$?
    # The tally counts failing tests, which are status 1.
    [ $code -le 1 ] || : >"$STEPS/pytest-status-$code.failed"
    [ $code -ne 1 ] || MUST_FAIL=--must-fail
    used programs
    echo "== tests of the programs: $(($(now) - begin)) s, user $((USER_S - user_s)) s, sys $((SYS_S - sys_s)) s"
}

# Lives of the simulated mount: fresh seeds, which are printed, and those that once failed. The tally
# counts the lives, so that only a run without results is a failed step.
simulate() {
    # shellcheck disable=SC2086
    step simulator python3 tests/sim/run --program build-asan/tests/sim/sim --corpus $SIMULATED \
        --junit build-asan/simulator.xml ||
        [ ! -s build-asan/simulator.xml ] || rm -f "$STEPS/simulator.failed"
    sed -n 's/^fresh seeds/   &/p' "$STEPS/simulator.log"
}

# finish TALLY-OPTIONS...: the last line, and the exit status.
finish() {
    for failed in "$STEPS"/*.failed; do
        [ ! -e "$failed" ] || set -- "$@" --broken "$(basename "$failed" .failed)"
    done
    used all
    echo "== all: $(($(now) - BEGIN)) s, user $USER_S s, sys $SYS_S s"
    # shellcheck disable=SC2086
    exec python3 tests/tally.py $MUST_FAIL "$@"
}

# Nothing is installed, and no program without sanitizers is built, so that tests of memory are skipped.
quick() {
    step build-asan sanitized build-asan gcc || finish
    DDBFS_SERVERS=${DDBFS_SERVERS:-dynoxide} DDBFS_RELEASE=none
    export DDBFS_SERVERS DDBFS_RELEASE
    step units units build-asan
    case ${1:-} in
    -*) set -- tests "$@" ;;
    esac
    [ $# -gt 0 ] || finish --meson build-asan/meson-logs/testlog.json
    programs "$@"
    finish --meson build-asan/meson-logs/testlog.json --junit build-asan/pytest.xml
}

DDBFS=$REPO/build-asan/fs/ddbfs
DDBFS_RELEASE=$REPO/build-release/fs/ddbfs
DDBFS_RELEASE_DONE=$STEPS/build-release.done
DDBFS_RENDER=$REPO/build-asan/tests/unit/render
DDBFS_TEST_DATA=$REPO/tests
# Beside the tree; a name space of each worker reads what the first one compiled.
PYTHONPYCACHEPREFIX=$REPO/build-asan/pycache
export DDBFS DDBFS_RELEASE DDBFS_RELEASE_DONE DDBFS_RENDER DDBFS_TEST_DATA PYTHONPYCACHEPREFIX

BEGIN=$(now)
MUST_FAIL='' TARGETS=''
CLANG="build build-clang clang $SMOKE" CLANG_TARGETS=smoke CLANG_UNITS="--suite fuzz --suite pointers" TIDY='' PROGRAMS_S=3000 FUZZ_S=
SIMULATED="--count 8"
rm -rf "$STEPS"
mkdir -p "$STEPS"

case ${1:-} in
--quick)
    shift
    quick "$@"
    ;;
--long)
    shift
    CLANG="sanitized build-clang clang -Dfuzz=true" CLANG_TARGETS='' CLANG_UNITS='' TIDY=--all PROGRAMS_S=14400 FUZZ_S=60
    SIMULATED="--minutes 10"
    DDBFS_LONG=1
    export DDBFS_LONG
    ;;
esac

# The names are words of their own on purpose, here and below.
# shellcheck disable=SC2086
install_missing $BUILD_NEEDS $TEST_NEEDS || {
    echo "0 passed, 1 failed"
    exit 2
}
BEGIN=$(now)

# Compiles the tests once, for the workers.
python3 -m pytest -q --collect-only tests >/dev/null 2>&1 &
step build-asan sanitized build-asan gcc || finish
wait
aside &
ASIDE=$!
rm -f build-asan/simulator.xml
simulate &
SIMULATOR=$!
step units units build-asan
programs tests "$@"
wait $ASIDE $SIMULATOR

finish --junit build-asan/pytest.xml --junit build-asan/simulator.xml \
    --meson build-asan/meson-logs/testlog.json --meson build-clang/meson-logs/testlog.json

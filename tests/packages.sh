# shellcheck shell=sh
# Finding and installing Debian packages; sourced by tests/run.sh and docs/quickstart.sh.

# Sets MISSING to those of the packages given that this machine lacks. command:package asks for
# the command alone, wherever it comes from; a bare name asks dpkg.
find_missing() {
    MISSING=
    for wanted in "$@"; do
        case $wanted in
        *:*) command -v "${wanted%%:*}" >/dev/null 2>&1 || MISSING="$MISSING ${wanted#*:}" ;;
        *) has_package "$wanted" || MISSING="$MISSING $wanted" ;;
        esac
    done
}

has_package() {
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# Installs what is missing, as root on Debian; else says what to install, and is false.
install_missing() {
    find_missing "$@"
    [ -n "$MISSING" ] || return 0
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
        echo "missing:$MISSING" >&2
        echo "install them first: sudo apt-get install --no-install-recommends$MISSING" >&2
        return 1
    fi
    echo "installing:$MISSING"
    apt_install || {
        echo "apt-get could not install:$MISSING" >&2
        echo "check the network and the package sources, or install them by hand" >&2
        return 1
    }
}

# The names are words of their own on purpose.
# shellcheck disable=SC2086
apt_install() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq </dev/null &&
        apt-get install -y -qq --no-install-recommends $MISSING </dev/null >/dev/null
}

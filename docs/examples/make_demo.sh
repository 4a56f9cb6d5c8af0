#!/bin/sh
# Makes a snapshot of the sample data of this folder, with the map of the sample.
#
#   sh docs/examples/make_demo.sh FILE.ddb
#
# $DDBFS names the program; without it, `ddbfs` is searched in the PATH.
set -eu

EXAMPLES=$(cd "$(dirname "$0")" && pwd)
DDBFS=${DDBFS:-ddbfs}
TABLES="EcomIndexerJobsTable EcomIndexSettingsTable ShopifyEntitiesTable"
# The moment of the sample: its youngest item is of this day.
AT=2026-04-18T18:00:00Z

[ $# -eq 1 ] || {
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
case $1 in
/*) FILE=$1 ;;
*) FILE=$PWD/$1 ;;
esac
case $DDBFS in
*/*) DDBFS=$(cd "$(dirname "$DDBFS")" && pwd)/${DDBFS##*/} ;;
esac
# On the file system of FILE, so that FILE appears whole or not at all.
SCRATCH=$(mktemp -d "$FILE.XXXXXX")
trap 'rm -rf "$SCRATCH"' EXIT
trap 'exit 1' INT TERM HUP PIPE

# Environment and text, one pair a line; the text may be empty.
environments() {
    sed -n '/"environments"/,/}/s/^ *"\([^"]*\)": "\([^"]*\)".*/\1 \2/p' "$EXAMPLES/sample.json"
}

# describe ENVIRONMENT TABLE: its element of the array in tables.json, with the table's full name.
describe() {
    awk -v table="\"TableName\": \"$2\"" '
        /^  {/ { element = "" }
        { element = element $0 "\n" }
        /^  }/ && index(element, table) { sub(/},?\n$/, "}\n", element); printf "%s", element }
    ' "$EXAMPLES/tables.json" | sed "s/\"TableName\": \"/&$1-/"
}

# add ENVIRONMENT TABLE: imports it into the snapshot. The first table makes the file.
add() {
    describe "$1" "$2" >table.json
    if [ -f demo.ddb ]; then
        set -- --onto demo.ddb "$2.jsonl"
    else
        set -- --map "$EXAMPLES/ecommerce.map.json" "$2.jsonl" demo.ddb
    fi
    "$DDBFS" import --at "$AT" --describe table.json "$@"
}

cd "$SCRATCH"
environments >list
while read -r environment text; do
    for table in $TABLES; do
        grep -F -e "$text" "$EXAMPLES/ecommerce.$table.jsonl" >"$table.jsonl" || :
        add "$environment" "$table"
    done
done <list
mv demo.ddb "$FILE"

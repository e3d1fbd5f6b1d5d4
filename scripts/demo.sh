#!/usr/bin/env bash
# Shows what grocerydude is for, in a home directory of its own that is removed at the end:
# a sample store is backed up while another process writes to it, loses its data, and gets it back; then two
# machines share one list. Exits with 1 where the data is not back, or the lists differ. Usage: demo.sh PROGRAM
set -euo pipefail

program=$1
PATH="$(cd "$(dirname "$program")" && pwd):$PATH"
command -v sqlite3 >/dev/null || {
    echo "demo: error: the demo needs the sqlite3 command: apt-get install sqlite3" >&2
    exit 1
}

HOME=$(mktemp -d "${TMPDIR:-/tmp}/grocerydude-demo.XXXXXX")
# Whatever else is in the environment may lead to the user's own configuration and data.
for name in $(compgen -e); do
    case $name in HOME | PATH | TERM | TZ | TMPDIR | LANG | LC_*) ;; *) unset "$name" ;; esac
done
export HOME PATH
readonly stores="$HOME/.local/share/grocerydude/Stores"
readonly store="$stores/Grocery-Dude.sqlite"
readonly photos="$stores/.Grocery-Dude_SUPPORT/_EXTERNAL_DATA"
writer=

stop_writer() {
    touch "$HOME/stop"
    if [ -n "$writer" ]; then wait "$writer" || true; fi
    writer=
}
clean_up() {
    trap - EXIT
    stop_writer
    rm -rf "$HOME"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '\n%s\n' "$*"; }
# Prints a command as one would type it, and runs it.
run() {
    local word line="${prompt-}$"
    for word in "$@"; do
        case $word in *[!A-Za-z0-9_./-]*) word="'$word'" ;; esac
        line+=" ${word/#$HOME/\~}"
    done
    printf '%s\n' "$line"
    "$@"
}

# The writer moves 1 from Rice to Milk in each transaction, as fast as it can: Milk shows how many
# transactions there were, and Milk and Rice together are 3 in every state that ever was committed.
write_on_and_on() {
    echo 'PRAGMA synchronous = NORMAL;'
    while [ -d "$HOME" ] && [ ! -e "$HOME/stop" ]; do
        echo "BEGIN IMMEDIATE;
            UPDATE item SET quantity = quantity + 1 WHERE name = 'Milk';
            UPDATE item SET quantity = quantity - 1 WHERE name = 'Rice';
            COMMIT;"
    done
}
query() { sqlite3 -cmd '.timeout 5000' "$store" "$@"; }
changes() { query "SELECT CAST(quantity AS INTEGER) - 2 FROM item WHERE name = 'Milk'"; }
# What is expected to be back: how many items, the sum, and the photos' content.
state() {
    local names=("$photos"/*)
    query "SELECT count(*) || ' items, Milk and Rice together ' || (
        SELECT CAST(total(quantity) AS INTEGER) FROM item WHERE name IN ('Milk', 'Rice')
    ) FROM item" | tr '\n' ','
    if [ -e "${names[0]}" ]; then
        echo " ${#names[@]} photos with checksum $(cat "${names[@]}" | cksum | cut -d ' ' -f 1)"
    else
        echo ' no photos'
    fi
}

say "A sample store: a grocery list in SQLite, with photos as files beside it."
run grocerydude init --test-data
before=$(state)

say "Another process begins to write to it, as fast as it can ..."
write_on_and_on 2>/dev/null | query >/dev/null 2>"$HOME/writer.log" &
writer=$!
while [ "$(changes)" -lt 1000 ]; do sleep 0.1; done
first=$(changes)

say "... and it is backed up meanwhile."
run grocerydude backup
last=$(changes)
echo "(the writer made $((last - first)) transactions during the backup)"
if [ "$last" -le "$first" ]; then
    echo "demo: error: the writer was held up: $(cat "$HOME/writer.log")" >&2
    exit 1
fi

say "The backups that there are, and the beginning of what is in this one:"
run grocerydude list
name=$(grocerydude list --json | sed -E 's/.*"display_name":"([^"]*)".*/\1/')
echo '$ grocerydude show latest | head -n 14'
grocerydude show latest | sed -n '1,14p'
stop_writer

say "The data is lost: all rows, and all photos."
run sqlite3 "$store" 'DELETE FROM item'
run rm -r "$photos"
run grocerydude sample
echo "(there are none)"
lost=$(state)

say "It is restored."
run grocerydude restore "$name" --yes
after=$(state)

say "What was there before the writer began, after the loss, and now:"
printf '%s\n' "before: $before" "lost:   $lost" "now:    $after"
if [ "$after" != "$before" ] || [ "$lost" = "$before" ]; then
    echo "demo: error: the data is NOT back" >&2
    exit 1
fi
say "The data is back: every item and every photo, as of one transaction of the writer."

say "Two machines, one list: each has a home directory of its own, and both a folder that they share."
readonly homes="$HOME" shared="$HOME/Shared"
mkdir "$shared" "$homes/desk" "$homes/phone"
on() (
    HOME="$homes/$1" prompt=$1
    shift
    run "$@"
)
list() { HOME="$homes/$1" grocerydude sample; }
on desk grocerydude init
on desk grocerydude sync enable --container "$shared" --device desk --yes --quiet
on phone grocerydude init
on phone grocerydude sync enable --container "$shared" --device phone --yes --quiet

say "Both are edited; the phone has no connection, as if the folder were not there."
on desk grocerydude sample add Honey
on desk grocerydude sync
mv "$shared" "$shared.away"
on phone grocerydude sample remove Milk
on phone grocerydude sample add Figs
on phone grocerydude sync --quiet || echo "(what was edited waits: exit code $?)"

say "The folder is there again."
mv "$shared.away" "$shared"
on phone grocerydude sync
on desk grocerydude sync
if [ "$(list desk)" != "$(list phone)" ] || ! list desk | grep -q Honey || list desk | grep -q Milk; then
    echo "demo: error: the two lists DIFFER" >&2
    diff <(list desk) <(list phone) >&2 || true
    exit 1
fi
list desk
say "Both machines have the same rows."

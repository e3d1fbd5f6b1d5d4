#!/usr/bin/env bash
# Writes manual pages and shell completions: manual.sh PROGRAM OUTPUT-DIRECTORY
#
# swift-argument-parser makes both from the commands' help. Its pages are one for each command and
# named with dots; here they get the names that man(1) looks for ('man grocerydude backup' opens
# grocerydude-backup.1), and examples and exit codes get sections of their own; the codes only in
# grocerydude(1).
set -euo pipefail
cd "$(dirname "$0")/.."

readonly program=$1 output=$2

rm -rf "$output"
mkdir -p "$output"/{raw,man1,completions}

swift build --product generate-manual >&2
generator="$(swift build --show-bin-path)/generate-manual"
date=$(git log -1 --format=%cs 2>/dev/null || date +%Y-%m-%d)
"$generator" --multi-page --date "$date" --output-directory "$output/raw" "$program"

version=$("$program" --version | awk 'NR == 1 { print $2 }')
for page in "$output"/raw/*.1; do
    name=$(basename "$page" .1)
    # These pages have nothing that the others do not have.
    case "$name" in grocerydude.help | grocerydude.options | grocerydude.exit-codes | grocerydude.manual) continue ;; esac
    awk -v version="$version" '
        # Keeps lines as they are.
        function literal(text) { return ".Bd -literal\n" text ".Ed" }

        /^\.Dt / { gsub(/\./, "-", $2) }
        /^\.Os/ { print ".Os grocerydude " version; next }
        /^\.Nd / { sub(/\."$/, "\"") }
        # Another word for a command is on the page of that word.
        alias && /^\.Nm [a-z]/ { alias = 0; next }
        /^\.Nm ".*" ,$/ { sub(/ ,$/, ""); alias = 1 }
        # The index of pages takes one word; the synopsis has the command as it is typed.
        /^\.Nm "/ { command = $0; line = substr($0, 6, length($0) - 6); gsub(/ /, "-", line); $0 = ".Nm " line }
        /^\.Nm$/ && command != "" { $0 = command }
        # No request of groff begins in a text.
        /^\x27/ { $0 = "\\&" $0 }
        /^\.Xr / { gsub(/\./, "-", $2) }
        /^\.Xr grocerydude-help / { next }
        /^EXAMPLE$/ { block = "example"; next }
        /^EXIT CODES$/ { block = "codes"; next }
        block != "" && /^ / { text[block] = text[block] substr($0, 3) "\n"; next }
        { block = "" }
        # A paragraph ends where more text follows, and not before a list, an item or a section.
        /^$|^\.Pp/ { paragraph = 1; next }
        /^\.Ex/ {
            # The page of the program has them all.
            if (text["codes"] != "") print literal(text["codes"])
            else print "The exit codes are listed in\n.Xr grocerydude 1 ."
            if (text["example"] != "") print ".Sh EXAMPLES\n" literal(text["example"])
            next
        }
        {
            # Not to be hyphenated.
            if (!/^\./) gsub(/GROCERYDUDE_|\x27rclone:REMOTE/, "\\%&")
            if (paragraph && !after_title && !/^\./) print ".Pp"
            paragraph = 0
            after_title = /^\.Sh/
            print
        }
    ' "$page" >"$output/man1/${name//./-}.1"
done

# bash reads this file and does not run it.
"$program" --generate-completion-script bash | sed '1{/^#!/d}' >"$output/completions/grocerydude"
"$program" --generate-completion-script zsh >"$output/completions/_grocerydude"
"$program" --generate-completion-script fish >"$output/completions/grocerydude.fish"

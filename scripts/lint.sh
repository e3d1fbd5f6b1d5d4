#!/usr/bin/env bash
# Holds the sources to the rules that the compiler does not know. Each breach is printed as
# file:line: message; the exit code is 1 if there is any.
#
# - The formatter's rules (.swift-format).
# - The arrow. A module imports only from its right; the command line may import all of ours, and the
#   leaves never each other:
#   grocerydude → Operations → { Backups, Sync } → { Stores, Archives, Remotes, Changes, History, Sample, Age } → Files
#   Operations → Mounts → Files; Remotes → Processes → Files; only the command line imports Sample.
# - One dependency, one module; GRDB alone has four: Stores, Sync, History, Sample; CSQLite too; Crypto has
#   Files and Age.
# - Time is an argument: only the command line looks at the clock.
# - No knots of more than 8 files (scripts/knots.py, which needs Python), and no file of more than 600 lines.
# - No type of more than 40 members over all its files, and no function of more than 40 lines (scripts/limits.py); the
#   breaches of today are listed in scripts/limits.txt with their numbers, which only fall.
# - No doc comment in the sources begins with What, Who, Of, Those or Where.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
swift format lint --strict --recursive --parallel Sources Tests Package.swift || status=1

find Sources -name '*.swift' -print0 | sort -z | xargs -0 awk '
    function breach(message) {
        printf "%s:%d: %s\n", FILENAME, FNR, message
        breaches++
    }

    BEGIN {
        # What each module of ours may import of ours.
        may["grocerydude"] = " Age Operations Backups Sync Stores Archives Remotes Changes History Sample Processes Files "
        may["Operations"] = " Age Mounts Backups Sync Stores Archives Remotes Changes History Processes Files "
        may["Sync"] = " Stores Archives Remotes Changes Files "
        may["Backups"] = " Age Stores Archives Remotes History Files "
        may["Remotes"] = " Processes Files "
        may["Archives"] = " Age Files "
        may["Age"] = may["Mounts"] = may["Changes"] = may["Stores"] = may["History"] = may["Sample"] = may["Processes"] = " Files "
        may["Files"] = " "

        # Who alone imports a dependency.
        owners["GRDB"] = owners["CSQLite"] = " Stores Sync History Sample "
        owners["CLibzip"] = owners["CIsal"] = owners["CZlib"] = owners["CXXHash"] = " Archives "
        owners["CFiles"] = " Files "
        owners["CStores"] = " Stores "
        owners["CFuse"] = " Mounts "
        owners["Crypto"] = " Age Files "
        owners["CryptoExtras"] = " Age "
        owners["Subprocess"] = " Processes "
        owners["ArgumentParser"] = owners["Yams"] = " grocerydude "

        # What comes with Swift, and FilePath.
        split("Foundation Glibc Darwin Synchronization SystemPackage", names)
        for (i in names) free[names[i]] = 1
    }

    FNR == 1 {
        split(FILENAME, path, "/")
        module = path[2]
        if (!(module in may)) breach("the module \x27" module "\x27 is not known to scripts/lint.sh")
    }

    {
        code = $0
        sub(/\/\/.*/, "", code)
    }

    code ~ /^[ \t]*(@[A-Za-z_]+(\([^)]*\))?[ \t]+)*((public|package|internal|fileprivate|private)[ \t]+)?import[ \t]/ {
        imported = code
        sub(/^.*import[ \t]+/, "", imported)
        sub(/^(typealias|struct|class|enum|protocol|let|var|func)[ \t]+/, "", imported)
        sub(/[^A-Za-z0-9_].*/, "", imported)
        if (imported in may) {
            if (index(may[module], " " imported " ") == 0)
                breach("\x27" module "\x27 may not import \x27" imported "\x27: see the arrow in ARCHITECTURE.md")
        } else if (imported in owners) {
            if (index(owners[imported], " " module " ") == 0)
                breach("\x27" imported "\x27 may be imported only in:" owners[imported])
        } else if (!(imported in free)) {
            breach("\x27" imported "\x27 is not known to scripts/lint.sh: say there which module may import it")
        }
    }

    module != "grocerydude" && code ~ /(^|[^A-Za-z0-9_])Date(\(\)|\.now|\.init\(\)|\(timeIntervalSinceNow)/ {
        breach("only the command line looks at the clock: take the time as an argument")
    }

    code ~ /(^|[^A-Za-z0-9_.])(TimeZone|Calendar|Locale|[A-Za-z0-9]*Formatter|NSRegularExpression)(\(|\.)/ {
        breach("the program has no data of ICU: count days with Timestamp, local time with LocalZone")
    }

    END { exit breaches > 0 }
' || status=1

if command -v python3 >/dev/null; then
    for module in Sources/*; do
        scripts/knots.py --knot 8 "$module" || status=1
    done
    scripts/limits.py || status=1
else
    echo "lint: knots, members and lines were not counted: python3 is not there"
fi

if grep -rnE '^ */// (What|Who|Whoever|Whose|Of|Those|Where|Which) ' Sources --include='*.swift'; then
    echo "lint: these doc comments begin with a word that makes a reader guess"
    status=1
fi

long=$(find Sources Tests -name '*.swift' -exec awk 'END { if (NR > 600) print FILENAME ": " NR " lines" }' {} \;)
if [ -n "$long" ]; then
    echo "$long"
    status=1
fi

exit "$status"

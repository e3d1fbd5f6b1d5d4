#!/usr/bin/env bash
# Holds the sources to the rules that the compiler does not know. Each breach is printed as
# file:line: message; the exit code is 1 where there is any.
#
# - The formatter's rules (.swift-format).
# - The arrow: grocerydude → Operations → { Stores, Archives, Remotes } → Processes → Files. A module
#   imports only from its right; the command line may import all of ours, and the leaves never each
#   other.
# - One dependency, one module.
# - Time is an argument: only the command line looks at the clock.
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
        split("grocerydude Operations Stores Archives Remotes Processes Files", names)
        for (i in names) ours[names[i]] = 1
        may["grocerydude"] = " Operations Stores Archives Remotes Processes Files "
        may["Operations"] = " Stores Archives Remotes Processes Files "
        may["Remotes"] = " Processes Files "
        may["Stores"] = may["Archives"] = may["Processes"] = " Files "
        may["Files"] = " "

        # Who alone imports a dependency.
        owner["GRDB"] = owner["CSQLite"] = "Stores"
        owner["CLibzip"] = owner["CIsal"] = owner["CZlib"] = "Archives"
        owner["Crypto"] = owner["CFiles"] = "Files"
        owner["Subprocess"] = "Processes"
        owner["ArgumentParser"] = owner["Yams"] = "grocerydude"

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
        if (imported in ours) {
            if (index(may[module], " " imported " ") == 0)
                breach("\x27" module "\x27 may not import \x27" imported "\x27: see the arrow in ARCHITECTURE.md")
        } else if (imported in owner) {
            if (owner[imported] != module)
                breach("\x27" imported "\x27 may be imported in \x27" owner[imported] "\x27 only")
        } else if (!(imported in free)) {
            breach("\x27" imported "\x27 is not known to scripts/lint.sh: say there which module may import it")
        }
    }

    module != "grocerydude" && code ~ /(^|[^A-Za-z0-9_])Date(\(\)|\.now|\.init\(\)|\(timeIntervalSinceNow)/ {
        breach("only the command line looks at the clock: take the time as an argument")
    }

    END { exit breaches > 0 }
' || status=1

exit "$status"

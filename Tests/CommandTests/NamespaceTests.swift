import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

enum Namespace {
    static let mayMount =
        Tool.isInstalled("unshare")
        && (try? Tool.run("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]))?.status == 0
}

/// The built program where only root may take it: on file systems that are mounted for it, in a
/// mount namespace that ends with the test (unshare(1)).
@Suite(
    "Commands in a mount namespace",
    .enabled(if: Namespace.mayMount, "this system or user may not mount")
)
struct NamespaceTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        for name in ["Stores", "Remote", "Real"] { try sandbox.directory(name) }
    }

    /// Runs a script of commands, each with the exit code that it must have: `run 0 backup`.
    ///
    /// A script that exits with 77 had no such file system.
    ///
    /// - Returns: what it printed, or `nil` where it was skipped.
    private func script(_ lines: String, processes: Bool = false) throws -> String? {
        let prelude = """
            set -eu
            umask 022
            trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
            run() {
                code=$1; shift; got=0
                "$PROGRAM" "$@" > last 2>&1 || got=$?
                cat last
                [ $got = $code ] || { echo "exit code $got instead of $code: $*"; exit 1; }
            }

            """
        let outcome = try Tool.run(
            "unshare",
            (processes ? ["-mpf", "--mount-proc", "--kill-child"] : ["-m"])
                + ["sh", "-c", prelude + lines],
            environment: [
                "PROGRAM": Tool.product("grocerydude"), "HOME": sandbox.path.string, "TZ": "UTC",
                "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "",
                "GROCERYDUDE_STORES": sandbox.path("Stores").string,
                "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
            ],
            directory: sandbox.path,
            timeout: .seconds(120)
        )
        if outcome.status == 77 {
            print("skipped: \(outcome.text)\(outcome.errors)")
            return nil
        }
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        return outcome.text
    }

    @Test(
        "A stores directory that is a mount point is restored, and remains a mount point",
        arguments: ["mount -t tmpfs none Stores", "mount --bind Real Stores"]
    )
    func volume(mount: String) throws {
        let output = try script(
            """
            \(mount)
            run 0 init
            mkdir Stores/lost+found; echo theirs > Stores/lost+found/1; echo new > Stores/note
            before=$(stat -c %i Stores)
            run 0 backup
            run 0 show latest > shown; ! grep lost+found shown
            run 0 items remove Apples
            echo old > Stores/note; echo old > Stores/more
            run 0 restore latest --yes
            [ "$(stat -c %i Stores)" = "$before" ]
            [ "$(ls -A Stores | tr '\\n' ' ')" = "Grocery-Dude.sqlite lost+found note " ]
            [ "$(cat Stores/note Stores/lost+found/1 | tr '\\n' ' ')" = "new theirs " ]
            run 0 items > items; grep Apples items
            [ "$(ls -A | grep Stores)" = Stores ]
            """
        )
        #expect(output?.contains("cannot") == false)
    }

    @Test(
        "A mount in a stores directory is backed up, and never removed",
        arguments: ["", "mount --bind Real Stores"]
    )
    func mountInside(mount: String) throws {
        try sandbox.write("precious", to: "Other/photo")
        let output = try script(
            """
            \(mount)
            run 0 init
            mkdir -p Stores/sub/media
            run 0 backup
            mount --bind Other Stores/sub/media
            run 21 restore latest --yes --no-safety-backup
            run 0 backup
            umount Stores/sub/media
            run 0 restore latest --yes
            [ "$(cat Stores/sub/media/photo)" = precious ]
            """
        )
        #expect(output?.contains("something is mounted at '") == true)
        #expect(output?.contains("hint: unmount it: umount /") == true)
        #expect(try sandbox.read("Other/photo") == Array("precious".utf8))
    }

    @Test("A clone of a machine with a host name of its own prunes none of its backups")
    func clone() throws {
        let output = try script(
            """
            clone() {
                unshare --uts sh -c 'echo clone >/proc/sys/kernel/hostname; exec "$PROGRAM" "$@"' sh "$@"
            }
            run 0 init
            run 0 backup
            clone backup --prune --keep-last 1
            clone backup --prune --keep-last 1
            [ "$(ls Remote | grep -c Stores.zip)" = 2 ]
            run 0 restore latest --yes
            """
        )
        #expect(output?.contains("is newer, but of another") == true)
    }

    @Test("A mount in a stores directory is not restored, and does not hinder the restore")
    func mountBesidePart() throws {
        try sandbox.write("precious", to: "Other/photo")
        let output = try script(
            """
            run 0 init
            mkdir -p Stores/sub/media Stores/plain; echo old > Stores/plain/1; echo x > Stores/sub/media/x
            run 0 backup
            mount --bind Other Stores/sub/media
            echo new > Stores/plain/1
            run 21 restore latest --yes --only sub
            run 21 restore latest --yes --only sub/media
            run 21 restore latest --yes --only sub/media/x
            run 0 restore latest --yes --only plain
            [ "$(cat Stores/plain/1)" = old ]
            [ "$(cat Stores/sub/media/photo)" = precious ]
            umount Stores/sub/media
            """
        )
        #expect(output?.contains("something is mounted at '") == true)
        #expect(try sandbox.read("Other/photo") == Array("precious".utf8))
        #expect(!sandbox.exists("Other/x"))
    }

    @Test(
        "A file that is a mount point is refused before any change, also in a restore of a part"
    )
    func mountedFile() throws {
        try sandbox.write("theirs", to: "Other/real")
        let output = try script(
            """
            run 0 init
            mkdir -p Stores/sub/deep; echo old > Stores/sub/deep/real; echo old > Stores/plain
            run 0 backup
            mount --bind Other/real Stores/sub/deep/real
            echo new > Stores/plain
            run 21 restore latest --yes
            run 21 restore latest --yes --only sub
            run 21 restore latest --yes --only sub/deep/real
            [ "$(cat Stores/plain Other/real)" = "$(printf 'new\\ntheirs')" ]
            [ "$(ls -A | grep Stores)" = Stores ]
            run 0 restore latest --yes --only plain
            [ "$(cat Stores/plain)" = old ]
            touch empty Stores/Grocery-Dude.sqlite-wal
            mount --bind empty Stores/Grocery-Dude.sqlite-wal
            run 21 restore latest --yes --only Grocery-Dude.sqlite
            """
        )
        #expect(output?.contains("/real', in the stores directory") == true)
    }

    /// Runs a command in a mount namespace of its own until its standard input, a pipe, ends.
    private static let elsewhere = """
        mkfifo ready wait
        elsewhere() {
            unshare -m sh -c "$1; echo > \"$HOME/ready\"; read line < \"$HOME/wait\"" &
            read line < ready
        }
        leave() { echo > wait; wait; }

        """

    @Test(
        "A restore keeps the same stores directory if a container mounts it or a shell uses it"
    )
    func heldDirectory() throws {
        let output = try script(
            Self.elsewhere + """
                mkdir data
                run 0 init
                echo old > Stores/note
                run 0 backup
                before=$(stat -c %i Stores)
                elsewhere "mount --bind Stores data; cd data"
                container=$!
                echo new > Stores/note
                run 0 restore latest --yes
                [ "$(cat Stores/note /proc/$container/root$PWD/data/note)" = "$(printf 'old\\nold')" ]
                leave
                elsewhere "cd Stores"
                echo new > Stores/note
                run 0 restore latest --yes
                [ "$(stat -c %i Stores)" = "$before" ]
                leave
                run 0 restore latest --yes
                [ "$(stat -c %i Stores)" != "$before" ]
                mount --bind Stores data
                before=$(stat -c %i Stores)
                run 0 restore latest --yes
                [ "$(stat -c %i data)" = "$before" ]
                """
        )
        #expect(output?.contains("stays, and its content is replaced: process ") == true)
        #expect(output?.contains("has it mounted at '") == true)
        #expect(output?.contains("works there") == true)
        #expect(output?.contains("it is mounted at '") == true)
    }

    @Test(
        "A restore is refused if another process holds files that it would replace"
    )
    func heldInside() throws {
        let output = try script(
            Self.elsewhere + """
                mkdir data; touch real
                run 0 init
                mkdir -p "Stores/a b/sub"; echo old > "Stores/a b/sub/note"; echo old > Stores/plain
                run 0 backup
                elsewhere "mount --bind 'Stores/a b/sub' data; cd data"
                echo new > "Stores/a b/sub/note"
                run 24 restore latest --yes
                run 24 restore latest --yes --dry-run
                run 24 restore latest --yes --only "a b"
                run 0 restore latest --yes --only plain
                run 0 restore latest --yes --only "a b/sub/note"
                leave
                elsewhere "mount --bind Stores/plain real"
                run 24 restore latest --yes
                run 24 restore latest --yes --only plain
                leave
                elsewhere "cd 'Stores/a b'"
                run 24 restore latest --yes
                run 0 restore latest --yes --force
                leave
                run 0 restore latest --yes
                """
        )
        #expect(output?.contains("/a b/sub' would be replaced, but process ") == true)
        #expect(output?.contains("or go on with '--force'") == true)
    }

    @Test("A remote folder that is mounted from the stores directory is refused")
    func remoteMountedFromStores() throws {
        let output = try script(
            """
            run 0 init
            run 0 backup
            mkdir Stores/backups; mv Remote/* Stores/backups
            mount --bind Stores/backups Remote
            run 1 backup
            run 1 restore latest --yes
            [ $(ls -A Remote | wc -l) = 1 ]
            """
        )
        #expect(output?.contains("is inside the stores directory") == true)
    }

    @Test("A read-only stores directory is backed up without a message, and not restored")
    func readOnlyStores() throws {
        // A log that a killed application left has to be read without its index being made.
        try sandbox.directory("Real")
        try StoreApplication(
            on: sandbox.path("Real/app.sqlite"),
            "PRAGMA journal_mode = wal",
            "CREATE TABLE t AS SELECT 1 AS x"
        ).kill()
        let before = try sandbox.contents(of: "Real")
        let output = try script(
            """
            mount --bind Real Stores; mount -o remount,bind,ro Stores
            run 0 backup > backup
            [ $(wc -l < backup) = 4 ] || { cat backup; exit 1; }
            run 0 show latest --json > show; grep -q '"rows":1' show
            run 21 restore latest --yes
            """
        )
        #expect(output?.contains("your data is as it was") == true)
        #expect(output?.contains("the file system is read-only") == true)
        #expect(try sandbox.contents(of: "Real") == before)
    }

    @Test("A read-only remote folder is named, and restored from")
    func readOnlyRemote() throws {
        let output = try script(
            """
            run 0 init
            run 0 backup
            mount --bind Remote Remote; mount -o remount,bind,ro Remote
            run 1 backup
            run 1 delete latest --yes
            run 21 restore latest --yes
            run 0 restore latest --yes --no-safety-backup
            run 0 list
            """
        )
        #expect(output?.contains("nothing was changed: cannot create") == true)
        #expect(output?.contains("the file system is read-only") == true)
        #expect(output?.contains("add '--no-safety-backup'") == true)
    }

    @Test(
        "Stores and remote folder on other file systems, behind links, are backed up and restored"
    )
    func otherFileSystems() throws {
        _ = try script(
            """
            rmdir Stores Remote; mkdir disk share
            mount -t tmpfs none disk; mount -t tmpfs none share
            mkdir disk/Stores share/Remote
            ln -s disk/Stores Stores; ln -s share/Remote Remote
            run 0 init
            run 0 backup
            run 0 items remove Apples
            run 0 restore latest --yes
            run 0 items > items; grep Apples items
            [ -L Stores ] && [ -L Remote ]
            [ "$(ls -A disk)" = Stores ]
            [ "$(ls share/Remote | wc -l)" = 2 ]
            """
        )
    }

    @Test("A container image's directory that cannot be renamed is restored")
    func overlay() throws {
        let output = try script(
            """
            mkdir disk merged
            mount -t tmpfs none disk
            mkdir -p disk/lower/Stores disk/upper disk/work
            GROCERYDUDE_STORES=disk/lower/Stores run 0 init
            mount -t overlay overlay \\
                -o lowerdir=disk/lower,upperdir=disk/upper,workdir=disk/work merged || exit 77
            export GROCERYDUDE_STORES=merged/Stores
            run 0 backup
            run 0 items remove Apples
            run 0 restore latest --yes
            run 0 items > items; grep Apples items
            [ "$(ls -A merged merged/Stores | tr '\\n' ' ')" = \\
                "merged: Stores  merged/Stores: Grocery-Dude.sqlite " ]
            """
        )
        // Where the overlay can rename it (redirect_dir), it was.
        print("overlay:", output?.contains("its content is replaced") as Any)
    }

    @Test("A remote folder that supports neither links nor exchanges of names accepts backups")
    func noExchange() throws {
        _ = try script(
            """
            mkdir real
            command -v rclone > /dev/null || exit 77
            rclone mount real Remote --daemon --vfs-cache-mode full > mount.log 2>&1 || exit 77
            run 0 init
            run 0 backup
            run 0 items remove Apples
            run 0 restore latest --yes
            run 0 items > items; grep Apples items
            run 0 backup
            run 0 restore latest --dry-run
            [ "$(ls -A Remote | grep -v '^[.]grocerydude-notes$' | wc -l)" = 3 ]
            [ "$(ls Remote/*Stores.zip | wc -l)" = 3 ]
            umount Remote
            """,
            processes: true
        )
    }

    @Test("Without a process file system, a command says so and does nothing")
    func noProcesses() throws {
        _ = try script(
            """
            run 0 init
            umount -l /proc || exit 77
            run 1 backup
            grep "mount -t proc" last
            run 1 restore latest --yes
            [ -z "$(ls -A Remote)" ]
            run 0 --version
            """
        )
    }

    @Test(
        "A store whose log cannot be copied for want of scratch space is named, and is not replaced"
    )
    func noScratch() throws {
        _ = try script(
            """
            export TMPDIR="$PWD/tmp"
            run 0 init
            run 0 backup
            sqlite3 Stores/log.sqlite "PRAGMA journal_mode = wal; CREATE TABLE t (a); INSERT INTO t VALUES (1)" \
                ".shell cp Stores/log.sqlite copy.sqlite; cp Stores/log.sqlite-wal copy.sqlite-wal" > out
            mv copy.sqlite Stores/log.sqlite; mv copy.sqlite-wal Stores/log.sqlite-wal
            cp -R Stores before
            TMPDIR=/proc run 3 backup > out; grep "'log.sqlite'" out
            TMPDIR=/proc run 21 restore latest --yes
            diff -r Stores before
            # SQLite falls back on other directories as well.
            run 0 backup
            run 0 show latest > out; grep log.sqlite out
            """
        )
    }

    @Test("Directories behind symbolic links are as good as others")
    func links() throws {
        _ = try script(
            """
            mkdir -p real/state real/config real/cache real/out .local/state .config .cache
            ln -s "$PWD/real/state" .local/state/grocerydude
            ln -s "$PWD/real/config" .config/grocerydude
            ln -s "$PWD/real/cache" .cache/grocerydude
            ln -s real/out out
            run 0 init
            run 0 backup > said; ! grep -i "not signed" said
            run 0 key generate
            run 0 key rotate --signing
            run 0 link Remote --profile other --stores Stores
            run 0 restore latest --target out/restored
            run 0 report --html out/report.html
            run 0 copy latest --to out/copy.zip
            run 0 backup --set metrics_file="$PWD/out/metrics.prom" > said; ! grep -i warning said
            ls real/out/restored real/out/report.html real/out/copy.zip real/out/metrics.prom
            """
        )
    }
}

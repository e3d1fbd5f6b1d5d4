internal import Backups
internal import Files
internal import Remotes
internal import SystemPackage

/// The locations of the stores and their backups, checked for combinations that can cost data.
struct Places {
    private let stores: FilePath
    /// The directory of backups; `nil` if they are on another machine.
    private let backups: FilePath?

    init(stores: FilePath, folder: BackupFolder) {
        self.stores = stores
        backups = folder.remote.directory
    }

    /// A warning if another program synchronises the stores; `nil` if no such program is known.
    ///
    /// Such a program may copy a database and its log at two different moments while SQLite writes to them. It may also
    /// put such a pair in their place (https://www.sqlite.org/howtocorrupt.html, 1.2 and 1.4).
    var warning: String? {
        SynchronisedFolder(around: stores)?.warning(about: stores)
    }

    /// A remark if the backups would be lost together with the stores; `nil` if they are elsewhere or synchronised.
    var remark: String? {
        guard let backups, SynchronisedFolder(around: backups) == nil,
            let ours = try? FileInfo(of: stores.resolved()).identity.device,
            let theirs = try? FileInfo(of: backups.resolved()).identity.device, ours == theirs
        else { return nil }
        return
            "the backups in '\(printable(backups))' are on the same file system as the stores: if it is lost, both are lost"
    }
}

/// A directory that another program synchronises with other machines.
struct SynchronisedFolder {
    let path: FilePath
    /// The program's name.
    let program: String

    /// Finds the nearest synchronised folder that contains the path or is the path; `nil` if none is known.
    init?(around path: FilePath) {
        guard var path = try? path.resolved() else { return nil }
        repeat {
            if let program = Self.program(of: path) {
                (self.path, self.program) = (path, program)
                return
            }
        } while path.removeLastComponent()
        return nil
    }

    /// Returns a warning about stores in the folder.
    func warning(about stores: FilePath) -> String {
        "'\(printable(stores))' is in '\(printable(path))', which \(program) synchronises: that damages SQLite stores in use"
    }

    /// The files and directories that such programs keep at the top level of their folders.
    private static let marks = [
        (".stfolder", "Syncthing"), (".dropbox.cache", "Dropbox"), (".dropbox", "Dropbox"),
        (".nextcloudsync.log", "Nextcloud"), (".owncloudsync.log", "ownCloud"),
        (".849C9593-D756-4E56-8D6E-42412F2A707B", "OneDrive"),
    ]

    private static func program(of path: FilePath) -> String? {
        for (name, program) in marks
        where (try? FileInfo.ifPresent(path.appending(name))) ?? nil != nil {
            // Dropbox also keeps its settings in the home directory, in a directory of the same name.
            if name == ".dropbox", (try? FileInfo(of: path.appending(name)))?.kind != .file {
                continue
            }
            return program
        }
        let name = path.lastComponent?.string ?? ""
        let parent = path.removingLastComponent().lastComponent?.string
        if name == "Mobile Documents", parent == "Library" { return "iCloud Drive" }
        if name == "Dropbox" || name.hasPrefix("Dropbox (") { return "Dropbox" }
        if name == "OneDrive" || name.hasPrefix("OneDrive - ") || name.hasPrefix("OneDrive-") {
            return "OneDrive"
        }
        // The client of Nextcloud and ownCloud keeps its journal there: .sync_0123456789ab.db.
        let names = (try? Directory.open(path).names().map(\.description)) ?? []
        let isJournal = names.contains {
            ($0.hasPrefix(".sync_") || $0.hasPrefix("._sync_")) && $0.hasSuffix(".db")
        }
        return isJournal ? "Nextcloud" : nil
    }
}

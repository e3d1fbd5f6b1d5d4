internal import Backups
internal import Files
internal import Remotes
internal import SystemPackage

/// Where the stores and their backups are, as far as that can cost data.
struct Places {
    private let stores: FilePath
    /// The directory of backups; `nil` if they are on another machine.
    private let backups: FilePath?

    init(stores: FilePath, folder: BackupFolder) {
        self.stores = stores
        backups = folder.remote is LocalFolder ? folder.staging : nil
    }

    /// Tells of stores that another program synchronises; `nil` if none is known to.
    ///
    /// A program that copies files while SQLite writes to them takes a database and its log of two moments,
    /// and may put such a pair in their place (https://www.sqlite.org/howtocorrupt.html, 1.2 and 1.4).
    var warning: String? {
        guard let around = SynchronisedFolder(around: stores) else { return nil }
        return
            "'\(printable(stores))' is in '\(printable(around.path))', which \(around.program) synchronises: that damages SQLite stores which are in use"
    }

    /// Tells of backups that are lost together with the stores; `nil` if they are elsewhere, or brought there.
    var remark: String? {
        guard let backups, SynchronisedFolder(around: backups) == nil,
            let ours = try? FileInfo(of: stores.resolved()).identity.device,
            let theirs = try? FileInfo(of: backups.resolved()).identity.device, ours == theirs
        else { return nil }
        return
            "the backups in '\(printable(backups))' are on the same file system as the stores: who loses that loses both"
    }
}

/// A directory that another program keeps in step with other machines.
struct SynchronisedFolder {
    let path: FilePath
    /// The program's name.
    let program: String

    /// Finds the nearest one that a path is in, or is; `nil` if there is none that is known.
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

    /// The files and directories that such programs keep at the top of their folders.
    private static let marks = [
        (".stfolder", "Syncthing"), (".dropbox.cache", "Dropbox"), (".dropbox", "Dropbox"),
        (".849C9593-D756-4E56-8D6E-42412F2A707B", "OneDrive"),
    ]

    private static func program(of path: FilePath) -> String? {
        for (name, program) in marks
        where (try? FileInfo.ifPresent(path.appending(name))) ?? nil != nil {
            // Dropbox's own settings, in the home directory, are a directory of that name.
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
        return nil
    }
}

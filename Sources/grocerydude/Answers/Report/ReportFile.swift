internal import Files
internal import SystemPackage

/// The file of a report, which may be the previous report.
struct ReportFile {
    /// The path, without a symbolic link at its end.
    let path: FilePath
    /// The permission bits, which a previous report keeps.
    private let mode: UInt16

    /// Creates a place for a report.
    ///
    /// - Throws: `CommandError.notAReport` if another file is there; `FileError`.
    init(at path: FilePath) throws {
        var place = path
        var info = try FileInfo.ifPresent(path)
        if info?.kind == .link {
            place = try path.resolved()
            info = try FileInfo(of: place)
        }
        guard let info else {
            (self.path, mode) = (path, 0o600)
            return
        }
        // mktemp(1) makes an empty file.
        guard try File.open(place).isEmpty(orBeginsWith: ReportPage.beginning) else {
            throw CommandError.notAReport(printable(path))
        }
        (self.path, mode) = (place, info.mode & 0o777)
    }

    /// Writes a page, which replaces the previous one in one step.
    ///
    /// - Throws: `FileError`; the previous page stays then.
    func write(_ page: String) throws {
        try LocalFileSystem().write(Array(page.utf8), to: path, mode: mode)
    }
}

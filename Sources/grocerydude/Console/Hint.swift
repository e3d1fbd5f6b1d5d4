internal import Backups
internal import Files
internal import Operations
internal import Sample
internal import SystemPackage

/// Advice that depends on this program's settings, beside that of the errors themselves.
enum Hint {
    /// Returns the advice after an error; `nil` if there is no good advice.
    static func after(_ error: any Error) -> String? {
        switch error {
        case OperationError.noStores(let path): insteadOf(path)
        case SampleError.missing(let path): insteadOf(path.removingLastComponent())
        default: Advice.after(error)
        }
    }

    /// Returns the advice for a missing stores directory.
    ///
    /// Only the default directory is created by advice, since others may be mistyped.
    private static func insteadOf(_ directory: FilePath) -> String {
        guard directory != FilePath(ProcessEnvironment.stores) else {
            return
                "'grocerydude setup' backs up your own data; 'grocerydude init' makes a sample to try"
        }
        // The search for the wrong component ends at the last existing directory.
        var wrong = directory
        var parent = wrong.removingLastComponent()
        while !parent.isEmpty, parent.lastComponent != nil, (try? Directory.open(parent)) == nil {
            wrong = parent
            parent.removeLastComponent()
        }
        let place = parent.isEmpty ? "." : parent
        let all = (try? Directory.open(place).names().map(\.description).sorted()) ?? []
        let names = all.filter { (try? FileInfo(of: place.appending($0)))?.kind != .file }
        if (try? FileInfo(of: directory)) == nil, let name = wrong.lastComponent?.string,
            let nearest = nearestName(to: name, among: names)
        {
            let right = parent.appending(nearest)
            let rest = directory.components.dropFirst(wrong.components.count)
            let whole = right.appending(rest)
            return "did you mean '\(printable((try? FileInfo(of: whole)) == nil ? right : whole))'?"
        }
        return "is it the right directory? name another with '--stores DIR'"
    }
}

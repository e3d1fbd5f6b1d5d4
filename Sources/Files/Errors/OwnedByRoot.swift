internal import Foundation
internal import SystemPackage

extension FilePath {
    /// Returns the command that gives a path back to this user, if root made it in a directory of the user.
    ///
    /// A run as root with the user's home directory leaves such files.
    ///
    /// - Returns: `nil` if root made nothing of the path there.
    var givenBack: String? {
        let user = geteuid()
        guard user != 0 else { return nil }
        var path = self
        while path.lastComponent != nil {
            let parent = path.removingLastComponent()
            if let info = try? FileInfo(of: path), info.owner == 0,
                let above = try? FileInfo(of: parent.isEmpty ? "." : parent), above.owner == user
            {
                return "sudo chown -R \"$(id -un)\" \(shellWord(path))"
            }
            path = parent
        }
        return nil
    }
}

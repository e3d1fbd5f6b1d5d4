import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A machine with a stores directory, and its remote folder on a real server behind a proxy.
///
/// Both can be saved, and brought back again and again.
final class ServedScene {
    /// A kind of server, perhaps with encrypted names and files on it.
    struct Place: Sendable, CustomTestStringConvertible {
        var kind: RemoteServer.Kind
        var isEncrypted = false

        var testDescription: String { isEncrypted ? "crypt over \(kind)" : "\(kind)" }

        static let all =
            RemoteServer.Kind.available.map { Place(kind: $0) }
            + (RemoteServer.Kind.webdav.isInstalled
                ? [Place(kind: .webdav, isEncrypted: true)] : [])
    }

    /// What a server has: the backups in the list, those in the trash, and what is half there.
    struct Listing {
        var backups: Set<String> = []
        var trashed: Set<String> = []
        var partial: Set<String> = []
    }

    private static let folder = "Backups"
    /// What this machine has that is saved.
    private static let directories = ["home", "Stores"]

    let server: RemoteServer
    let proxy: TCPProxy
    private let place: Place
    private let sandbox: Sandbox
    private let environment: [String: String]
    /// The name that the folder has in the directory that is served.
    private let served: String

    var stores: FilePath { sandbox.path("Stores") }

    init(_ place: Place) throws {
        self.place = place
        sandbox = try Sandbox()
        server = try RemoteServer(place.kind, in: sandbox, isBehindProxy: true)
        proxy = try #require(server.proxy)
        for name in ["home", "other", "tmp", "Stores"] { try sandbox.directory(name) }
        let rclone = try Tool.check("sh", ["-c", "command -v rclone"])
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let script = "#!/bin/sh\necho $$ > '\(sandbox.path("rclone"))'\nexec '\(rclone)' \"$@\"\n"
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700],
            ofItemAtPath: sandbox.write(script, to: "bin/rclone").string
        )
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let address = server.remote(Self.folder, isEncrypted: place.isEncrypted)
        environment = server.client.merging([
            "PATH": "\(sandbox.path("bin")):\(path)", "TZ": "UTC",
            "TMPDIR": sandbox.path("tmp").string,
            "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "", "XDG_STATE_HOME": "",
            "XDG_CONFIG_HOME": "", "GROCERYDUDE_PROFILE": "", "GROCERYDUDE_CONFIG": "",
            "GROCERYDUDE_STORES": sandbox.path("Stores").string,
            "GROCERYDUDE_REMOTE": "rclone:\(address)",
        ]) { $1 }
        try server.rclone("mkdir", address)
        served =
            place.kind == .s3
            ? "" : try Directory.open(server.directory).names().first?.description ?? ""
        try check("init")
        try sandbox.write(Pseudorandom.bytes(seed: 9, count: 300_000), to: "Stores/large")
        try sandbox.write("new", to: "Stores/note")
    }

    private func environment(of home: String) -> [String: String] {
        environment.merging(["HOME": sandbox.path(home).string]) { $1 }
    }

    /// Runs the program on this machine, or on another one that knows nothing.
    func run(_ arguments: [String], elsewhere: Bool = false) throws -> Tool.Outcome {
        if elsewhere { try sandbox.clear("other") }
        return try Tool.run(
            Trial.program,
            arguments,
            environment: environment(of: elsewhere ? "other" : "home"),
            timeout: .seconds(300)
        )
    }

    @discardableResult
    func check(_ arguments: String...) throws -> Tool.Outcome {
        let outcome = try run(arguments)
        guard outcome.status == 0 else { throw Tool.Failure.failed(arguments[0], outcome) }
        return outcome
    }

    /// Changes the stores.
    func change(_ text: String) throws { try sandbox.write(text, to: "Stores/note") }

    /// Runs the program, and kills it and rclone at a moment, as a loss of power does.
    ///
    /// - Returns: the exit code, which is another than 137 if that moment never came.
    func run(_ arguments: [String], killedAt moment: TCPProxy.Moment) throws -> Int32 {
        let run = try RunningTool(
            Trial.program,
            arguments,
            environment: environment(of: "home")
        )
        let (program, file) = (run.processIdentifier, sandbox.path("rclone").string)
        proxy.strike(at: moment) {
            _ = kill(program, SIGKILL)
            let text = try? String(contentsOfFile: file, encoding: .utf8)
            if let rclone = text.flatMap({ Int32($0.trimmingCharacters(in: .newlines)) }) {
                _ = kill(rclone, SIGKILL)
            }
        }
        let status = run.wait()
        if status == 128 + SIGKILL { proxy.mode = .refuse }
        while !proxy.isIdle { usleep(10_000) }
        proxy.mode = .pass
        return status
    }

    /// Looks at what the server has, without the program.
    func listing() throws -> Listing {
        let address = server.remote(Self.folder, isEncrypted: place.isEncrypted)
        let lines = try server.rclone("lsf", "--recursive", "--files-only", address)
            .split(separator: "\n").map(String.init)
        var listing = Listing()
        for line in lines {
            if line.hasSuffix(".partial") {
                listing.partial.insert(line)
            } else if line.hasPrefix(".grocerydude-trash/") {
                // With the moment of its removal before its name.
                let name = line.drop { $0 != " " }.dropFirst()
                listing.trashed.insert(String(name))
            } else if line.hasSuffix(".zip") {
                listing.backups.insert(line)
            }
        }
        return listing
    }

    /// What this machine has of archives that are not whole.
    func leftovers() throws -> [String] {
        try ["home/.cache", "home/.local/state", "tmp"].flatMap { name in
            guard try FileInfo.ifPresent(sandbox.path(name)) != nil else { return [String]() }
            return try sandbox.contents(of: name, hashing: false).paths.filter {
                $0.contains(".partial") || $0.contains("scratch")
            }
        }
    }

    /// Saves the machine and what the server has, under a name.
    func save(_ name: String = "first") throws {
        for directory in Self.directories { try copy(directory, to: "saved/\(name)/\(directory)") }
        try sync(Self.folder, to: "Saved \(name)")
    }

    /// Brings back what was saved.
    func bringBack(_ name: String = "first") throws {
        try sandbox.clear("tmp")
        for directory in Self.directories { try copy("saved/\(name)/\(directory)", to: directory) }
        try sync("Saved \(name)", to: Self.folder)
    }

    private func copy(_ directory: String, to other: String) throws {
        try sandbox.clear(other)
        let places = [sandbox.path("\(directory)/.").string, sandbox.path(other).string]
        try Tool.check("cp", ["-a"] + places)
    }

    /// The name of a folder in the directory that is served.
    private func name(of folder: String) -> String {
        folder == Self.folder ? served : folder
    }

    /// Makes one folder of the server the same as another.
    private func sync(_ folder: String, to copy: String) throws {
        guard place.kind == .s3 else {
            let directory = "served-\(place.kind.rawValue)"
            return try self.copy(
                "\(directory)/\(name(of: folder))",
                to: "\(directory)/\(name(of: copy))"
            )
        }
        try server.rclone("sync", server.remote(folder), server.remote(copy))
    }
}

extension Sandbox {
    /// Makes an empty directory in the place of one that may be there.
    fileprivate func clear(_ name: String) throws {
        try LocalFileSystem().remove(path(name))
        try directory(name)
    }
}

internal import Files
internal import Foundation
public import SystemPackage

/// A real server on the loopback that rclone reaches; it ends with the last reference to it, and also if
/// the test crashes: it is ended when its standard input is.
public final class RemoteServer: @unchecked Sendable {
    /// What it speaks.
    public enum Kind: String, CaseIterable, Sendable {
        case webdav, sftp, s3

        /// Those that are installed.
        public static let available = allCases.filter(\.isInstalled)

        /// Whether its program is there, and rclone.
        public var isInstalled: Bool {
            Tool.isInstalled("rclone") && (self != .s3 || Tool.isInstalled("moto_server"))
        }
    }

    /// It did not begin to serve.
    public struct NotStarted: Error, CustomStringConvertible {
        public var description: String
    }

    public static let user = "anna"
    public static let password = "correct horse"

    public let kind: Kind
    /// The directory that it serves; S3 has nothing of it.
    public let directory: FilePath
    /// The port at which it listens.
    public let port: UInt16
    private let tool: RunningTool
    private let process: Int32
    /// The proxy before it, if there is one.
    public let proxy: TCPProxy?

    /// Starts a server and waits until it listens.
    ///
    /// - Parameters:
    ///   - kind: what it speaks.
    ///   - sandbox: where its directory and its log are.
    ///   - options: more of its options.
    ///   - isBehindProxy: whether clients are to reach it through a proxy.
    ///   - before: a shell command to run before it, in its process.
    ///   - diskSize: the size of a file system of its own, if it is to have one, as mount(8) takes it.
    /// - Throws: `NotStarted`.
    public init(
        _ kind: Kind,
        in sandbox: Sandbox,
        options: [String] = [],
        isBehindProxy: Bool = false,
        before: String = ":",
        diskSize: String? = nil
    ) throws {
        self.kind = kind
        directory = try sandbox.directory("served-\(kind.rawValue)")
        let log = sandbox.path("\(kind.rawValue).log")
        let mounting = "mount -t tmpfs -o size=\(diskSize ?? "") none \"$0\" && exec \"$@\""
        let through =
            diskSize == nil ? [] : ["unshare", "-m", "sh", "-c", mounting, directory.string]
        let words = through + Self.command(kind, directory) + options
        // 'exec', so that the process is the server's own; a signal for the test is one for it, too.
        let script = """
            (\(before) && exec "$@") >>'\(log)' 2>&1 </dev/null &
            echo $!
            cat >/dev/null
            kill -CONT $! 2>/dev/null
            kill -KILL $! 2>/dev/null
            """
        var environment = Self.cleared
        environment["XDG_CACHE_HOME"] = Self.cache
        environment["PYTHONUNBUFFERED"] = "1"
        tool = try RunningTool("sh", ["-c", script, "sh"] + words, environment: environment)
        guard let line = try tool.readLine(), let number = Int32(line) else {
            throw NotStarted(description: "no server: \(words)")
        }
        process = number
        port = try Self.port(in: log, of: process)
        proxy = isBehindProxy ? try TCPProxy(to: port) : nil
        if kind == .s3 {
            try Tool.check(
                "rclone",
                ["mkdir", "\(name):bucket"],
                environment: environment.merging(client) { $1 }
            )
        }
    }

    deinit {
        // Its shell kills it then.
        try? tool.closeInput()
        tool.wait()
    }

    /// Keys of the SFTP server take a while to make.
    private static let cache = NSTemporaryDirectory() + "/grocerydude-test-servers"

    /// What no rclone of a test takes from its surroundings.
    private static let cleared = ["RCLONE_CONFIG": "/dev/null", "AWS_CA_BUNDLE": ""]

    private static func command(_ kind: Kind, _ directory: FilePath) -> [String] {
        let rclone = ["rclone", "serve", kind.rawValue, directory.string, "--addr", "127.0.0.1:0"]
        return switch kind {
        // Its own memory of directories would make every list lag.
        case .webdav, .sftp:
            rclone + ["--user", user, "--pass", password, "--dir-cache-time", "0s"]
        case .s3: ["moto_server", "-H", "127.0.0.1", "-p", "0"]
        }
    }

    /// Waits for the line of the log that has the port.
    private static func port(in log: FilePath, of process: Int32) throws -> UInt16 {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end, kill(process, 0) == 0 {
            let text = (try? String(contentsOfFile: log.string, encoding: .utf8)) ?? ""
            let pattern = #/(?:started on \[?http|listening on |Running on http)[^\n]*?:(\d+)[^\d]/#
            if let match = text.firstMatch(of: pattern), let port = UInt16(match.1) { return port }
            usleep(20_000)
        }
        throw NotStarted(
            description: (try? String(contentsOfFile: log.string, encoding: .utf8)) ?? "no log"
        )
    }

    /// Stops it, so that it answers nothing any more, or lets it go on.
    public func stop() { _ = kill(process, SIGSTOP) }
    public func goOn() { _ = kill(process, SIGCONT) }

    /// Ends it for good.
    public func end() { _ = kill(process, SIGKILL) }
}

// As a client sees it.
extension RemoteServer {
    private var name: String { "test\(kind.rawValue)" }

    /// The address of a folder on it, without `rclone:`.
    public func remote(_ folder: String, isEncrypted: Bool = false) -> String {
        if isEncrypted { return "\(name)crypt:\(folder)" }
        return kind == .s3 ? "\(name):bucket/\(folder)" : "\(name):\(folder)"
    }

    /// The variables by which rclone knows it.
    public var client: [String: String] { client() }

    /// Returns the variables by which rclone knows it, with a password of one's own.
    public func client(password: String = password) -> [String: String] {
        let port = proxy?.port ?? port
        var settings: [String: String] =
            switch kind {
            case .webdav:
                ["TYPE": "webdav", "URL": "http://127.0.0.1:\(port)", "USER": Self.user]
            case .sftp:
                [
                    "TYPE": "sftp", "HOST": "127.0.0.1", "PORT": "\(port)", "USER": Self.user,
                    "SHELL_TYPE": "none", "USE_INSECURE_CIPHER": "false",
                ]
            case .s3:
                [
                    "TYPE": "s3", "PROVIDER": "Other", "ENDPOINT": "http://127.0.0.1:\(port)",
                    // moto refuses rclone's last question after an upload in parts.
                    "UPLOAD_CUTOFF": "2Gi", "ACCESS_KEY_ID": Self.user,
                    "SECRET_ACCESS_KEY": password,
                ]
            }
        if kind != .s3 { settings["PASS"] = Self.obscured(password) }
        let encrypted = [
            "TYPE": "crypt", "REMOTE": remote(""), "PASSWORD": Self.obscured("salt and pepper"),
        ]
        var variables = Self.cleared
        for (names, prefix) in [(settings, name), (encrypted, "\(name)crypt")] {
            for (key, value) in names {
                variables["RCLONE_CONFIG_\(prefix.uppercased())_\(key)"] = value
            }
        }
        return variables
    }

    /// Runs rclone as a client of it, and returns what it prints.
    @discardableResult
    public func rclone(_ arguments: String...) throws -> String {
        try Tool.check("rclone", arguments, environment: client)
    }

    /// Lets the bucket of an S3 server keep all versions of its objects.
    public func keepVersions() throws {
        let answer = try Tool.check(
            "curl",
            [
                "--silent", "--fail", "--request", "PUT", "--header",
                "Content-Type: application/xml",
                "--data",
                "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>",
                "http://127.0.0.1:\(port)/bucket?versioning",
            ]
        )
        guard answer.isEmpty else { throw NotStarted(description: answer) }
    }

    /// rclone takes passwords in a form that cannot be read over a shoulder.
    private static func obscured(_ password: String) -> String {
        let text = try? Tool.check("rclone", ["obscure", password], environment: cleared)
        return (text ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

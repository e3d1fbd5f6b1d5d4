import Files
import Foundation
import SystemPackage
import TestSupport

/// A directory that rclone serves on the loopback, perhaps behind a proxy that counts.
///
/// The servers end with the last reference.
final class ServedDirectory {
    enum Kind: String, CaseIterable {
        /// It reports no hashes of its files.
        case webdav
        /// It reports MD5 and SHA-1.
        case sftp
    }

    static let isAvailable = Tool.isInstalled("rclone")
    static let canCount = isAvailable && Tool.isInstalled("python3")

    struct NotStarted: Error {}

    private let server: RunningTool
    private let proxy: RunningTool?
    /// The folder's address, as `--remote` takes it.
    let address: String

    init(_ directory: FilePath, over kind: Kind = .webdav, counting: Bool = false) throws {
        let login = kind == .sftp ? "--no-auth" : ""
        server = try RunningTool(
            "/bin/sh",
            [
                "-c",
                "exec rclone serve \(kind.rawValue) --addr 127.0.0.1:0 --dir-cache-time 0 \(login) \"$0\" 2>&1",
                directory.string,
            ],
            environment: ["RCLONE_CONFIG": "/dev/null"]
        )
        var port: Int?
        while port == nil, let line = try server.readLine() {
            let match = line.firstMatch(of: #/(?:started|listening) on .*127\.0\.0\.1:(\d+)/#)
            port = match.flatMap { Int($0.1) }
        }
        guard var port else { throw NotStarted() }
        if counting {
            let proxy = try RunningTool("python3", ["-u", "-c", Self.countingProxy, "\(port)"])
            guard let line = try proxy.readLine(), let own = Int(line) else { throw NotStarted() }
            self.proxy = proxy
            port = own
        } else {
            proxy = nil
        }
        address =
            switch kind {
            case .webdav: "rclone::webdav,url='http://127.0.0.1:\(port)':"
            case .sftp:
                // The password is "x", as rclone obscures it.
                "rclone::sftp,host=127.0.0.1,port=\(port),user=x,pass=\(try Self.obscured):"
            }
    }

    /// Kills the server.
    func stop() { server.kill() }

    private static var obscured: String {
        get throws {
            try Tool.check("rclone", ["obscure", "x"]).trimmingCharacters(in: .newlines)
        }
    }

    /// Bytes that the server has sent since the last time.
    func countSent() throws -> Int {
        try proxy?.writeLine("")
        guard let line = try proxy?.readLine(), let count = Int(line) else { throw NotStarted() }
        return count
    }

    /// Prints its port; after that, for each line, how many bytes the server sent since the line before.
    private static let countingProxy = """
        import socket, sys, threading
        sent = 0
        def pump(source, target, counts):
            global sent
            while data := source.recv(65536):
                if counts: sent += len(data)
                try: target.sendall(data)
                except OSError: break
            for end in (source, target):
                try: end.shutdown(socket.SHUT_RDWR)
                except OSError: pass
        def accept():
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                for ends in ((client, server, False), (server, client, True)):
                    threading.Thread(target=pump, args=ends, daemon=True).start()
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=accept, daemon=True).start()
        print(listener.getsockname()[1])
        for line in sys.stdin:
            print(sent)
            sent = 0
        """
}

internal import Foundation

/// An editor for lines that the user types on a terminal, with keys for editing and for earlier lines.
///
/// It uses libedit (editline(3)) if the system has it, or else only the terminal. Typed lines are not kept after the
/// program ends.
struct LineEditor {
    private typealias Read = @convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
    private typealias Remember = @convention(c) (UnsafePointer<CChar>) -> CInt

    private static let libraries = [
        "libedit.so.2", "libedit.so.0", "libedit.so", "/usr/lib/libedit.dylib",
    ]

    private let read: Read?
    private let remember: Remember?

    /// Loads the library if it exists.
    init() {
        let library = Self.libraries.lazy.compactMap { dlopen($0, RTLD_NOW) }.first
        let read = library.flatMap { dlsym($0, "readline") }
        let remember = library.flatMap { dlsym($0, "add_history") }
        self.read = read.map { unsafeBitCast($0, to: Read.self) }
        self.remember = remember.map { unsafeBitCast($0, to: Remember.self) }
    }

    /// Prompts for a line; `nil` at the end of the input.
    func line(_ prompt: String) -> String? {
        guard let read else {
            writeAll(prompt, to: 2)
            return readLine()
        }
        guard let text = read(prompt) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    /// Adds a line to the history.
    func keep(_ line: String) {
        if !line.isEmpty { _ = remember?(line) }
    }
}

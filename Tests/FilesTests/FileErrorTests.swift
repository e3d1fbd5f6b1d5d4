@testable internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("FileError")
struct FileErrorTests {
    @Test(
        "a message says what, names it and says why",
        arguments: [
            (
                .failed(.open, "a", .noSuchFileOrDirectory),
                "cannot open 'a': no such file or directory"
            ),
            (.failed(.inspect, "a", .permissionDenied), "cannot look at 'a': permission denied"),
            (
                .failed(.move, "a", .ioError),
                "cannot rename 'a': input/output error, the disk may be failing"
            ),
            (
                .failed(.exchange, "a", .readOnlyFileSystem),
                "cannot exchange names with 'a': the file system is read-only"
            ),
            (.failed(.write, "a", .noSpace), "cannot write 'a': no space left on the device"),
            (
                .failed(.setAttributes, "a", .notPermitted),
                "cannot set the attributes of 'a': operation not permitted"
            ),
            (.notA(.file, "a"), "'a' is not a regular file"),
            (.notA(.directory, "a"), "'a' is not a directory"),
            (.exists("a"), "'a' is there already"),
            (.endedEarly("a"), "'a' is shorter than expected"),
            (.tooLong("a", limit: 5), "'a' is longer than 5 bytes, the limit of such files"),
            (.locked("a", holder: nil), "'a' is in use by another run"),
            (.unsafeName("..", reason: "no"), "the name '..' is refused: no"),
            (.exists("a\u{1B}[2Jb\n"), "'a\\u{1b}[2Jb\\n' is there already"),
        ] as [(FileError, String)]
    )
    func messages(error: FileError, text: String) {
        #expect(error.description == text)
    }

    @Test("every error number has words that begin in lower case and end without a period")
    func everyNumber() {
        for number in CInt(1)...133 {
            let words = reason(Errno(rawValue: number))
            #expect(!words.isEmpty)
            #expect(!words.hasSuffix("."))
            #expect(words.first?.isUppercase == false)
        }
    }

    @Test("what a person can mend has a hint")
    func hints() {
        func hint(_ errno: Errno) -> String? { FileError.failed(.write, "/disk/a", errno).hint }
        #expect(hint(.noSpace)?.contains("'/disk/a'") == true)
        #expect(hint(.diskQuotaExceeded)?.contains("free some space") == true)
        #expect(hint(.permissionDenied)?.contains("owner") == true)
        #expect(hint(.notPermitted)?.contains("owner") == true)
        #expect(hint(.readOnlyFileSystem) != nil)
        // What cannot be created is its directory's matter.
        let create = FileError.failed(.create, "/disk/a", .permissionDenied)
        #expect(create.hint == "run as the owner of '/disk'")
        for errno in [Errno.resourceBusy, .improperLink] {
            #expect(FileError.failed(.move, "a", errno).hint?.contains("by hand") == true)
            #expect(hint(errno) == nil)
        }
        #expect(hint(.tooManyOpenFiles)?.contains("ulimit -n") == true)
        #expect(hint(.tooManyOpenFilesInSystem)?.contains("ulimit -n") == true)
        #expect(hint(.fileTooLarge)?.contains("ulimit -f") == true)
        #expect(hint(.ioError)?.contains("dmesg") == true)
        #expect(hint(.interrupted) == nil)
        #expect(FileError.locked("a", holder: nil).hint?.contains("--lock-wait") == true)
        #expect(FileError.exists("a").hint == nil)
    }

    @Test("a rename that can never be is distinguished from one that failed")
    func forbidden() {
        let never: [Errno] = [.resourceBusy, .improperLink, .permissionDenied, .readOnlyFileSystem]
        for errno in never { #expect(FileError.failed(.move, "a", errno).forbidsRename) }
        for errno in [Errno.ioError, .noSpace, .noSuchFileOrDirectory] {
            #expect(!FileError.failed(.move, "a", errno).forbidsRename)
        }
        #expect(!FileError.exists("a").forbidsRename)
    }

    @Test("no space, and nothing else, counts as no space")
    func noSpace() {
        let full: [Errno] = [.noSpace, .diskQuotaExceeded, .fileTooLarge]
        for errno in full { #expect(FileError.failed(.write, "a", errno).isNoSpace) }
        #expect(!FileError.failed(.write, "a", .ioError).isNoSpace)
        #expect(!FileError.endedEarly("a").isNoSpace)
    }

    @Test("what is not there counts as missing")
    func missing() {
        #expect(FileError.failed(.open, "a", .noSuchFileOrDirectory).isMissing)
        #expect(FileError.failed(.open, "a/b", .notDirectory).isMissing)
        #expect(!FileError.failed(.open, "a", .permissionDenied).isMissing)
        #expect(!FileError.notA(.file, "a").isMissing)
    }

    @Test("the reason for an unsafe name needs no other text")
    func unsafeReason() {
        #expect(FileError.unsafeName("..", reason: "it leaves").unsafeReason == "it leaves")
        #expect(FileError.exists("a").unsafeReason == "'a' is there already")
    }
}

@Suite("Printable text")
struct PrintableTests {
    @Test(
        "control and direction characters are escaped, and letters are not",
        arguments: [
            ("Milk & Eggs", "Milk & Eggs"),
            ("Übung 🥖 日本", "Übung 🥖 日本"),
            ("a\nb", "a\\nb"),
            ("a\rb", "a\\u{d}b"),
            ("a\tb", "a\\u{9}b"),
            ("\u{1B}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{7F}", "\\u{7f}"),
            ("\u{9B}2J", "\\u{9b}2J"),
            ("a\u{202E}gpj.exe", "a\\u{202e}gpj.exe"),
            ("\u{2066}\u{200F}", "\\u{2066}\\u{200f}"),
            ("", ""),
        ]
    )
    func escapes(text: String, printed: String) {
        #expect(printable(bytes: text.utf8) == printed)
        #expect(printable(FilePath(text)) == printed)
    }

    @Test("bytes that are not UTF-8 are escaped one by one, with all that is not ASCII")
    func notUTF8() {
        #expect(printable(bytes: [0x61, 0xFF, 0x0A, 0x7E]) == "a\\xFF\\x0A~")
        #expect(printable(bytes: [0xC3, 0xA9, 0xC3]) == "\\xC3\\xA9\\xC3")
    }
}

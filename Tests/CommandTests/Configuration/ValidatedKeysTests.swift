import Files
import SystemPackage
import TestSupport
import Testing

/// The files and commands of keys that a configuration names.
@Suite("The validation of keys and passwords")
struct ValidatedKeysTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.expect("key", "generate")
        try program.sandbox.write("secret\n", to: "password")
        try program.sandbox.write("\n", to: "empty")
        try program.sandbox.write("AGE-SECRET-KEY-1NONE\n", to: "bad")
        for name in ["password", "empty", "bad"] {
            try Tool.check("chmod", ["600", program.sandbox.path(name).string])
        }
    }

    @Test(
        "reports each that cannot be used",
        arguments: [
            ("password_file: ~/nowhere", "nowhere", 12),
            ("password_file: ~/empty", "gives no password", 12),
            ("password_command: 'exit 3'", "it exited with 3", 12),
            ("password_command: 'true'", "gives no password", 12),
            ("identities: ~/nowhere", "nowhere", 12),
            ("identities: ~/bad", "bad", 12),
            ("identities: ~/empty", "there is none in the file", 12),
            ("recipients: ~/nowhere", "nowhere", 1),
            ("recipients: ~/empty", "there is no public key in", 1),
        ] as [(String, String, Int32)]
    )
    func refused(setting: String, words: String, status: Int32) throws {
        try program.configure("profiles: {a: {stores: ~/S, remote: ~/R, \(setting)}}\n")
        // A schedule does not have a person's environment.
        let environment = ["GROCERYDUDE_PASSWORD": "secret"]
        let outcome = try program.run(["config", "validate"], environment: environment)
        #expect(outcome.status == status, "\(outcome.text)\(outcome.errors)")
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }

    @Test(
        "accepts those that can, and asks for no password",
        arguments: [
            "password_file: ~/password", "password_command: 'echo secret'",
            "recipients: password", "identities: ~/.config/grocerydude/identity.txt",
        ]
    )
    func accepted(setting: String) throws {
        try program.configure("profiles: {a: {stores: ~/S, remote: ~/R, \(setting)}}\n")
        try program.expect("config", "validate")
    }
}

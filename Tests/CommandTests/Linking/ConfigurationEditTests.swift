import Testing

@testable import grocerydude

@Suite("An edit of the configuration's text")
struct ConfigurationEditTests {
    /// A text, a profile, and the text after its 'remote' is set to '/new'.
    private static let changes: [(before: String, profile: String?, after: String)] = [
        ("", nil, "remote: /new\n"),
        ("# only this\n", nil, "# only this\nremote: /new\n"),
        ("", "a", "profiles:\n  a:\n    remote: /new\n"),
        ("remote: /old\n", nil, "remote: /new\n"),
        ("remote:   /old   # why\nprune: true\n", nil, "remote:   /new   # why\nprune: true\n"),
        ("'remote' : 'it''s # old' # why\n", nil, "'remote' : /new # why\n"),
        ("\"remote\": \"a \\\" # b\"# why\n", nil, "\"remote\": /new # why\n"),
        ("remote: \"a \\\" # b\" # why\n", nil, "remote: /new # why\n"),
        ("remote:\n", nil, "remote: /new\n"),
        ("remote: # none yet\n", nil, "remote: /new # none yet\n"),
        ("remote: /old", nil, "remote: /new\n"),
        ("---\nremote: /old\n", nil, "---\nremote: /new\n"),
        ("prune: true # x\r\n# y\r\n", nil, "remote: /new\r\nprune: true # x\r\n# y\r\n"),
        (
            "# s\nstores: /s # it\n# p\nprune: true\n", nil,
            "# s\nstores: /s # it\nremote: /new\n# p\nprune: true\n"
        ),
        (
            "prune: true\n\n# end\n", "a",
            "prune: true\n\n# end\nprofiles:\n  a:\n    remote: /new\n"
        ),
        ("profiles:\n# end\n", "a", "profiles:\n  a:\n    remote: /new\n# end\n"),
        (
            "profiles:\n   b:\n      prune: true\n   # of b\n\n# on\nmax_age: 1d\n", "a",
            "profiles:\n   b:\n      prune: true\n   # of b\n   a:\n     remote: /new\n\n# on\nmax_age: 1d\n"
        ),
        ("profiles:\n  a: # none\n  b:\n", "a", "profiles:\n  a: # none\n    remote: /new\n  b:\n"),
        (
            "remote: /all\nprofiles:\n  a:\n    hooks:\n      backup: {before: x}\n", "a",
            "remote: /all\nprofiles:\n  a:\n    remote: /new\n    hooks:\n      backup: {before: x}\n"
        ),
        (
            "profiles:\n  a:\n    remote: /old\n  b:\n    remote: /old\n", "b",
            "profiles:\n  a:\n    remote: /old\n  b:\n    remote: /new\n"
        ),
        (
            "profiles:\n  \"a\":\n    remote: ü # ü\n", "a",
            "profiles:\n  \"a\":\n    remote: /new # ü\n"
        ),
    ]

    @Test("An edit sets a key in its place, and leaves everything else as it is")
    func set() throws {
        for (before, profile, after) in Self.changes {
            var edit = ConfigurationEdit(before)
            try edit.set("remote", to: "/new", in: profile)
            #expect(edit.text == after)
            // Once more, it changes nothing.
            try edit.set("remote", to: "/new", in: profile)
            #expect(edit.text == after)
        }
    }

    @Test("An edit is refused if the form of the text could lose something")
    func refused() {
        let refused: [(String, String?)] = [
            ("{remote: /old}\n", nil), ("profiles: {a: {remote: /old}}\n", "a"),
            ("profiles:\n  a: {remote: /old}\n", "a"), ("remote: &x /old\nping_url: *x\n", nil),
            ("remote: >\n  /old\n  more\n", nil), ("remote: /old\n  more\n", nil),
            ("profiles: ~\n", "a"), ("profiles:\n  a: &x\n    remote: /old\n  b: *x\n", "b"),
            ("? remote\n: /old\n", nil),
            ("no yaml: [\n", nil),
            ("- a\n", nil), ("prune: true\n...\n", "a"), ("remote: !!str /old\n", nil),
        ]
        for (text, profile) in refused {
            var edit = ConfigurationEdit(text)
            #expect(throws: ConfigurationEdit.Refused.self, "\(text)") {
                try edit.set("remote", to: "/new", in: profile)
            }
            #expect(edit.text == text)
        }
    }

    @Test("An edit writes every text so that it is read as the same text")
    func values() throws {
        for value in [
            "/a b/c", "rclone:dropbox:Apps/Grocery Dude", "true", "12", "1e3", "~", "~/x", "a: b",
            "a:", "a #b",
            "- a", "\"quoted\"", "back\\slash", "line\nend", "tab\tbell\u{7}", "ümläut 🥬", "null",
            "", " a ",
            "'x'", "{a}", "[a]", "&a", "*a", "!a", "%a", "@a", "`a`", "2026-11-21", "0x10", "y",
            "no", "a\u{85}b",
        ] {
            for text in ["", "remote: old # why\n", "profiles:\n  a:\n"] {
                let profile = text.hasPrefix("profiles") ? "a" : nil
                var edit = ConfigurationEdit(text)
                // It checks by itself that the value is read as it was given.
                try edit.set("remote", to: value, in: profile)
                #expect(edit.text != text)
            }
        }
        #expect(ConfigurationEdit.written("rclone:nas:a b") == "rclone:nas:a b")
    }

    @Test("An edit removes a key, and leaves the comments")
    func remove() throws {
        let removals: [(before: String, profile: String?, after: String)] = [
            ("# a\nremote: /old\nprune: true\n", nil, "# a\nprune: true\n"),
            ("prune: true\nremote: /old # why\n", nil, "prune: true\n# why\n"),
            ("# a\nremote: /old\n", nil, "# a\nprofiles:\n"),
            ("profiles:\n  a:\n    remote: /old # why\n", "a", "profiles:\n  a:\n    # why\n"),
            ("remote: /x\nprofiles:\n  a:\n    prune: true\n", "a", ""),
        ]
        for (before, profile, after) in removals {
            var edit = ConfigurationEdit(before)
            try edit.remove("remote", from: profile)
            #expect(edit.text == (after.isEmpty ? before : after))
        }
        for text in ["remote: >\n  a\n  b\nprune: true\n", "{remote: /old, prune: true}\n"] {
            var edit = ConfigurationEdit(text)
            #expect(throws: ConfigurationEdit.Refused.self) {
                try edit.remove("remote", from: nil)
            }
        }
    }

    @Test("An edit of the example keeps each of its lines")
    func example() throws {
        var edit = ConfigurationEdit(configurationExample)
        try edit.set("remote", to: "/new", in: "server")
        try edit.set("remote", to: "/other", in: "third")
        let before = configurationExample.split(separator: "\n", omittingEmptySubsequences: false)
        let after = Set(edit.text.split(separator: "\n", omittingEmptySubsequences: false))
        let gone = before.filter { !after.contains($0) }
        #expect(gone.map { $0.trimmingPrefix { $0 == " " } } == ["remote: rclone:nas:backups/app"])
    }
}

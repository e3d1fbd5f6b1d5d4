internal import Files
internal import SystemPackage

/// The answers to the questions of a setup, which a person or options gave.
struct SetupAnswers {
    /// The stores directory, absolute and without links.
    var stores: FilePath
    /// The folder as `link` takes it, and its absolute address.
    var folder: (text: String, address: String)
    var encrypts: Bool
    var schedule: Schedule
    /// How long backups are kept; `nil` for a policy that a person wrote.
    var keep: KeepSpan?
    /// The addresses that failures are reported to; `nil` for the present setting.
    var notify: [String]?

    /// The key of the setting with those addresses.
    static let notifyKey = "notify"

    /// The options that give the same answers.
    var options: [String] {
        var options = ["--stores", stores.string, "--remote", folder.text]
        options.append(encrypts ? "--encrypt" : "--no-encrypt")
        options += ["--schedule", schedule.description]
        if let keep { options += ["--keep", keep.rawValue] }
        for one in notify ?? [] {
            options += ["--notify", Setting.shown(one, of: Self.notifyKey)]
        }
        return options
    }
}

public import ArgumentParser
public import Backups

extension SameName: ExpressibleByArgument {}

/// What becomes of an archive whose name is taken.
struct SameNameOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "If another backup has the name: give it the next number, replace that one, which moves to the trash, or fail.",
            valueName: "how"
        )
    )
    var sameName = SameName.number
}

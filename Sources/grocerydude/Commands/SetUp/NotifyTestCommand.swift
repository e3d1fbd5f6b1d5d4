internal import ArgumentParser
internal import Operations

struct NotifyTestCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        "test",
        "Send a test message to everything in 'notify'.",
        discussion: """
            The answer says for each target whether the message arrived. If it arrived at none, the exit code \
            is 1; if only at some, 3.
            """,
        example: "grocerydude notify test --profile photos"
    )

    @OptionGroup(title: HelpSection.common) var stores: StoresOptions
    @OptionGroup(title: HelpSection.common) var output: OutputOptions

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        guard let notifications = invocation.notifications else {
            throw CommandError.noNotifications
        }
        let rows = await notifications.test(invocation.context).map(DeliveryRow.init)
        try invocation.console.answer(rows)
        try Interruption.check()
        let failed = rows.count { $0.delivery.failure != nil }
        return CommandResult(failed == 0 ? .done : failed == rows.count ? .failed : .partial)
    }
}

/// A target, and whether a message arrived there.
struct DeliveryRow: AnswerRow, JSONConvertible {
    let delivery: Notifications.Delivery

    var json: JSONObject {
        [
            "target": delivery.target, "arrived": delivery.failure == nil,
            "reason": delivery.failure,
        ]
    }

    static func write(_ rows: [DeliveryRow], to console: Console) {
        let cells = rows.map(\.delivery).map {
            [$0.target, $0.failure.map { "failed: \($0)" } ?? "arrived"]
        }
        console.answer(lines: Columns(rows: cells).lines)
    }
}

struct NotifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "notify",
        "Try the notifications of failures and missed runs.",
        example: "grocerydude notify test --profile photos",
        subcommands: [
            NotifyTestCommand.self, NotifyMissedCommand.self, NotifyFailedCommand.self,
        ]
    )
}

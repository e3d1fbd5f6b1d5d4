extension WorkThread {
    /// Runs work that may block on a thread of its own, while the task waits.
    ///
    /// A blocked thread of the task's would be missing where others go on: there may be only one. If the
    /// system gives no thread, the work is done on the task's all the same.
    public static func run<Value>(_ body: @escaping () throws -> Value) async throws -> Value {
        let work = Handed(body)
        let result = await withCheckedContinuation { continuation in
            let thread = WorkThread {
                continuation.resume(returning: Handed(Result { try work.value() }))
            }
            if thread == nil {
                continuation.resume(returning: Handed(Result { try work.value() }))
            }
        }
        return try result.value.get()
    }

    /// Something that is handed from one thread to another, of which only one goes on with it.
    private struct Handed<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }
}

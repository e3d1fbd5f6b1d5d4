internal import Files
package import Remotes

extension RemoteError {
    /// The problem to report for an operation that succeeded all the same; `nil` if it failed.
    package var problem: Problem? {
        guard case .notSynced(_, let name, let error) = self else { return nil }
        return Problem(kind: .notSynced, path: name, reason: error.description)
    }

    /// Runs an operation in a remote folder.
    ///
    /// - Returns: the problem if the operation succeeded but a loss of power may undo it.
    /// - Throws: `RemoteError` if the operation failed.
    package static func problem(of body: () async throws -> Void) async throws -> Problem? {
        try await notSynced(in: body)?.problem
    }

    /// Runs an operation in a remote folder.
    ///
    /// - Returns: the error if the operation succeeded but a loss of power may undo it.
    /// - Throws: `RemoteError` if the operation failed.
    static func notSynced(in body: () async throws -> Void) async throws -> RemoteError? {
        do {
            try await body()
            return nil
        } catch let error as RemoteError where error.problem != nil {
            return error
        }
    }
}

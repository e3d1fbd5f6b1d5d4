internal import Files
package import Remotes

extension RemoteError {
    /// The problem to tell of something that was done all the same; `nil` if it was not done.
    package var problem: Problem? {
        guard case .notSynced(_, let name, let error) = self else { return nil }
        return Problem(kind: .notSynced, path: name, reason: error.description)
    }

    /// Does something in a remote folder.
    ///
    /// - Returns: the problem, if it was done, but a loss of power may undo it.
    /// - Throws: `RemoteError` if it was not done.
    package static func problem(of body: () async throws -> Void) async throws -> Problem? {
        try await notSynced(in: body)?.problem
    }

    /// Does something in a remote folder.
    ///
    /// - Returns: the error, if it was done, but a loss of power may undo it.
    /// - Throws: `RemoteError` if it was not done.
    static func notSynced(in body: () async throws -> Void) async throws -> RemoteError? {
        do {
            try await body()
            return nil
        } catch let error as RemoteError where error.problem != nil {
            return error
        }
    }
}

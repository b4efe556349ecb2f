// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes

/// An app on a device that syncs with a gateway over HTTP; a copy of it is a clone of the device.
package struct StackDevice: Sendable {
    /// The database that its user sees, edits and syncs.
    package var model: ClientModel
    /// The access token that it sends.
    package var token: String
    /// The form of its app's requests.
    package var shape: ClientRequestShape
    /// Header fields besides those of the shape and the token.
    package var headers: [(String, String)] = []
    /// The gateway.
    package var http: RawHTTPClient
    /// The gateway's path.
    package var path = "/sync"
    /// Parameters that its app puts into each address besides those of the shape; empty for none.
    package var query = ""

    /// Creates a device.
    package init(model: ClientModel, token: String, shape: ClientRequestShape, http: RawHTTPClient) {
        self.model = model
        self.token = token
        self.shape = shape
        self.http = http
    }

    /// The reason why a sync failed; the app's `synchronize()` throws here.
    package enum Failure: Error, CustomStringConvertible {
        /// The pull was not answered with 200, or its answer was cut.
        case pull(RawAnswer)
        /// The pull's answer could not be applied.
        case apply(ClientFailure, RawAnswer)
        /// The push was not answered with 2xx; what was pulled before stays.
        case push(RawAnswer)

        /// The failure, in words.
        package var description: String {
            switch self {
            case .pull(let answer): "pull: \(answer)"
            case .apply(let failure, let answer): "\(failure.message) by \(answer)"
            case .push(let answer): "push: \(answer)"
            }
        }
    }

    /// The outcome of a sync.
    package struct Synced: Sendable {
        /// The answer of the pull.
        package var pull: RawAnswer
        /// The outcome in the library.
        package var applied: ClientApplied
        /// The answer of the push; nil where there was nothing to push.
        package var push: RawAnswer?
    }

    /// Syncs as the library's `synchronize()` does: pull, apply, push, mark as synced.
    ///
    /// - Throws: ``Failure``, and errors of the network.
    @discardableResult
    package mutating func sync() async throws -> Synced {
        let (pull, applied) = try await self.pull()
        return Synced(pull: pull, applied: applied, push: try await push())
    }

    /// Pulls and applies the answer.
    ///
    /// - Throws: ``Failure/pull(_:)`` or ``Failure/apply(_:_:)``; the database is as it was then.
    @discardableResult
    package mutating func pull() async throws -> (answer: RawAnswer, applied: ClientApplied) {
        let arguments = try model.pullArguments().arguments
        let answer = try await send(shape.pull(arguments, path: path))
        guard answer.status == 200, answer.isComplete else { throw Failure.pull(answer) }
        let applied = model.apply(answer.body, to: arguments)
        if let failure = applied.failure { throw Failure.apply(failure, answer) }
        return (answer, applied)
    }

    /// Pushes what waits to be pushed, and counts it as synced on a 2xx.
    ///
    /// - Returns: The answer; nil where nothing waits.
    /// - Throws: ``Failure/push(_:)``.
    @discardableResult
    package mutating func push() async throws -> RawAnswer? {
        let changes = model.fetchLocalChanges()
        guard !changes.isEmpty else { return nil }
        let answer = try await send(shape.push(changes, lastPulledAt: model.lastPulledAt, path: path))
        guard answer.isSuccess else { throw Failure.push(answer) }
        model.markAsSynced(changes, answer: answer.body)
        return answer
    }

    /// Sends the pull that would come next and loses its answer.
    @discardableResult
    package func pullLosingAnswer() async throws -> RawAnswer {
        try await send(shape.pull(try model.pullArguments().arguments, path: path))
    }

    /// Sends the push that would come next and loses its answer.
    @discardableResult
    package func pushLosingAnswer() async throws -> RawAnswer {
        try await send(shape.push(model.fetchLocalChanges(), lastPulledAt: model.lastPulledAt, path: path))
    }

    /// Sends a request with the token.
    package func send(_ request: ClientRequestShape.Request) async throws -> RawAnswer {
        var all = [("Accept", "*/*"), ("Authorization", "Bearer \(token)")] + headers
        if let type = request.contentType { all.append(("Content-Type", type)) }
        let mark = request.target.contains("?") ? "&" : "?"
        let target = query.isEmpty ? request.target : request.target + mark + query
        return try await http.send(request.method, target, headers: all, body: request.body)
    }
}

extension RawAnswer {
    /// The body as JSON; nil where it is none.
    package var json: JSONValue? {
        try? JSONValue.parse(body, limits: JSONValue.Limits(bytes: .max, depth: 128, elements: .max))
    }
}

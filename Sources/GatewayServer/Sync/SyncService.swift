// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Gateway
package import WatermelonWire

/// What the server serves: the gateway, or a stand-in for tests of the server alone.
package protocol SyncService: Sendable {
    /// The answer to a pull.
    associatedtype Pull: PullReply
    /// The answer to a push.
    associatedtype Push: PushReply
    /// The names and paths that clients use.
    var dialect: WireDialect { get }
    /// Throws where no request can be served, whatever it is.
    func checkReadiness() async throws
    /// Makes sure that the backend accepts the caller, before more is taken from them than a small body.
    ///
    /// - Returns: A name for the caller, under which it is counted what they hold.
    func admit(_ caller: Caller) async throws -> String
    /// Serves one pull; cancelled where the client goes.
    func pull(_ request: PullRequest, caller: Caller) async throws -> Pull
    /// Serves one push; never cancelled by the client's end.
    func push(_ request: PushRequest, caller: Caller) async throws -> Push
}

/// A pull that is committed and may be sent.
package protocol PullReply: Sendable {
    /// What it came to.
    var figures: SyncFigures { get }
    /// The body's type.
    var contentType: String { get }
    /// Hands over the body piece by piece; once.
    func write(to sink: ([UInt8]) async throws -> Void) async throws
}

/// A push that was taken.
package protocol PushReply: Sendable {
    /// What it came to.
    var figures: SyncFigures { get }
    /// The HTTP status.
    var status: Int { get }
    /// The body's type.
    var contentType: String { get }
    /// The body.
    var body: [UInt8] { get }
}

extension PullAnswer: PullReply {}
extension PushAnswer: PushReply {}

extension SyncGateway: SyncService {
    /// Checks the state, and the clock against the newest cursor in it.
    package func checkReadiness() async throws {
        try await checkState()
        try await checkClock()
    }
}

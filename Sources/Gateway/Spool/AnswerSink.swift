// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Takes an answer on its way to the client.
package protocol AnswerSink {
    /// True if the body is compressed on its way, which takes memory as long as it lasts.
    var isCompressed: Bool { get }
    /// Waits until the client's connection takes more, so that nothing is read for a client that cannot take it yet.
    ///
    /// - Parameter patience: The longest wait; nil is as long as the connection lasts.
    /// - Returns: False if the wait ended without room.
    /// - Throws: Any error, if the connection has ended.
    func waitForRoom(for patience: Duration?) async throws -> Bool
    /// Sends a piece of the body.
    func write(_ piece: [UInt8]) async throws
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// Holds the state of a measurement's backend: its stream, and the checkpoints of its sessions.
final class StreamingBackend: Sendable {
    private struct State {
        /// The tokens by session and namespace.
        var held: [String: [String: String]] = [:]
        /// The number of times that changes were streamed.
        var rounds = 0
        /// The number of operations that were pushed.
        var operations = 0
    }

    private let rounds: ChangeRounds
    private let whole: ByteBuffer
    private let state = NIOLockedValueBox(State())

    /// Creates a backend without checkpoints; makes all streams at once, so that sending them costs nothing later.
    ///
    /// - Parameters:
    ///   - source: The whole stream.
    ///   - changes: The number of rows that have changed for whoever has received the whole stream.
    init(_ source: AssetStream, changes: Int) {
        rounds = ChangeRounds(source, changes: changes)
        whole = source.bytes()
    }

    /// Returns everything, or the changes since everything was received: if the request has a checkpoint, or the
    /// session holds one.
    func stream(for session: String, _ request: ByteBuffer) -> ByteBuffer {
        let isKnown = request.withUnsafeReadableBytes { $0.firstOffset(of: Self.knownMark) != nil }
        let round = state.withLockedValue { state -> Int? in
            guard isKnown || state.held[session]?["AssetV1"] != nil else { return nil }
            state.rounds += 1
            return state.rounds
        }
        return round.map(rounds.stream) ?? whole
    }

    private static let knownMark = Array(#""AssetV1":"AssetV1|"#.utf8)

    /// Accepts the operations of a push, one a line; returns the answer, as JSON.
    func push(_ lines: ByteBuffer) -> String {
        let count = lines.readableBytesView.count { $0 == UInt8(ascii: "\n") }
        state.withLockedValue { $0.operations += count }
        return #"{"results":["# + (0..<count).map { #"{"line":\#($0),"outcome":"ok"}"# }.joined(separator: ",") + "]}"
    }

    /// The number of operations that were pushed so far.
    var operations: Int { state.withLockedValue { $0.operations } }

    /// Returns the checkpoints, as JSON.
    func list(for session: String) -> String {
        let entries = state.withLockedValue { $0.held[session] ?? [:] }.map { #"{"type":"\#($0)","ack":"\#($1)"}"# }
        return "[" + entries.joined(separator: ",") + "]"
    }

    /// Stores checkpoints; returns false if the body contains none.
    func acknowledge(_ body: ByteBuffer, for session: String) -> Bool {
        guard let body = try? JSONDecoder().decode([String: [String]].self, from: Data(body.readableBytesView)),
            let tokens = body["acks"]
        else { return false }
        state.withLockedValue { state in
            for token in tokens { state.held[session, default: [:]][String(token.prefix { $0 != "|" })] = token }
        }
        return true
    }

    /// Forgets the checkpoints that a body names, or all of them.
    func forget(_ body: ByteBuffer, for session: String) {
        let body = try? JSONDecoder().decode([String: [String]].self, from: Data(body.readableBytesView))
        state.withLockedValue { state in
            if let types = body?["types"] {
                for type in types { state.held[session]?[type] = nil }
            } else {
                state.held[session] = nil
            }
        }
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// Holds the state of a measurement's backend: its stream, and the checkpoints of its only session.
final class StreamingBackend: Sendable {
    private struct State {
        /// The tokens by namespace.
        var held: [String: String] = [:]
        /// The number of times that changes were streamed.
        var rounds = 0
    }

    private let source: AssetStream
    private let changes: Int
    private let whole: ByteBuffer
    private let state = NIOLockedValueBox(State())

    /// Creates a backend without checkpoints; makes the whole stream at once, so that sending it costs nothing later.
    init(_ source: AssetStream, changes: Int) {
        self.source = source
        self.changes = changes
        whole = source.bytes()
    }

    /// Returns everything, or the changes since everything was acknowledged.
    func stream() -> ByteBuffer {
        let round = state.withLockedValue { state -> Int? in
            guard state.held["AssetV1"] != nil else { return nil }
            state.rounds += 1
            return state.rounds
        }
        return round.map { source.changes(changes, round: $0) } ?? whole
    }

    /// Returns true if the body of a stream request has checkpoints of everything.
    func isKnown(_ body: ByteBuffer) -> Bool { body.readableBytesView.firstRange(of: Self.knownMark) != nil }

    private static let knownMark = Array(#""AssetV1":"AssetV1|"#.utf8)

    /// Returns the checkpoints, as JSON.
    func list() -> String {
        let entries = state.withLockedValue { $0.held }.map { #"{"type":"\#($0)","ack":"\#($1)"}"# }
        return "[" + entries.joined(separator: ",") + "]"
    }

    /// Stores checkpoints; returns false if the body contains none.
    func acknowledge(_ body: ByteBuffer) -> Bool {
        guard let body = try? JSONDecoder().decode([String: [String]].self, from: Data(body.readableBytesView)),
            let tokens = body["acks"]
        else { return false }
        state.withLockedValue { state in
            for token in tokens { state.held[String(token.prefix { $0 != "|" })] = token }
        }
        return true
    }

    /// Forgets the checkpoints that a body names, or all of them.
    func forget(_ body: ByteBuffer) {
        let body = try? JSONDecoder().decode([String: [String]].self, from: Data(body.readableBytesView))
        state.withLockedValue { state in
            if let types = body?["types"] {
                for type in types { state.held[type] = nil }
            } else {
                state.held = [:]
            }
        }
    }
}

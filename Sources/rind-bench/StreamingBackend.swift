// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// What the backend of a measurement knows: its stream, and the checkpoints of its only session.
final class StreamingBackend: Sendable {
    private struct State {
        /// Tokens by namespace.
        var held: [String: String] = [:]
        /// How often changes were streamed.
        var rounds = 0
    }

    private let source: AssetStream
    private let changes: Int
    private let whole: ByteBuffer
    private let state = NIOLockedValueBox(State())

    /// A backend without checkpoints; makes the whole stream at once, so that sending it costs nothing later.
    init(_ source: AssetStream, changes: Int) {
        self.source = source
        self.changes = changes
        whole = source.bytes()
    }

    /// Everything, or what has changed since everything was acknowledged.
    func stream() -> ByteBuffer {
        let round = state.withLockedValue { state -> Int? in
            guard state.held["AssetV1"] != nil else { return nil }
            state.rounds += 1
            return state.rounds
        }
        return round.map { source.changes(changes, round: $0) } ?? whole
    }

    /// The checkpoints, as JSON.
    func list() -> String {
        let entries = state.withLockedValue { $0.held }.map { #"{"type":"\#($0)","ack":"\#($1)"}"# }
        return "[" + entries.joined(separator: ",") + "]"
    }

    /// Takes checkpoints; false where the body holds none.
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

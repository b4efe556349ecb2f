// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The newest ack token of one namespace, as the backend made it.
package struct Checkpoint: Hashable, Sendable {
    /// What the checkpoint belongs to, such as `AlbumV1`.
    package let namespace: String
    /// Opaque: stored and sent back, never compared for order.
    package let token: String

    /// Pairs a token with its namespace.
    package init(namespace: String, token: String) {
        self.namespace = namespace
        self.token = token
    }

    /// The checkpoint of a stream line: the token's part before `|`, else the line's own type.
    package init(token: String, lineType: String) {
        self.token = token
        if let bar = token.utf8.firstIndex(of: UInt8(ascii: "|")) {
            namespace = String(token[..<bar])
        } else {
            namespace = lineType
        }
    }
}

/// One token for each namespace: how far a replica has got in the backend's stream.
package struct CheckpointVector: Hashable, Sendable {
    /// Token by namespace.
    package private(set) var tokens: [String: String]

    /// A vector of these tokens; the empty one asks for everything.
    package init(_ tokens: [String: String] = [:]) { self.tokens = tokens }

    /// Whether there is no checkpoint at all.
    package var isEmpty: Bool { tokens.isEmpty }

    /// The namespaces in alphabetical order, so that everything derived from a vector is reproducible.
    package var namespaces: [String] { tokens.keys.sorted() }

    /// The token of one namespace.
    package subscript(namespace: String) -> String? {
        get { tokens[namespace] }
        set { tokens[namespace] = newValue }
    }

    /// Takes the newer token of one namespace.
    package mutating func advance(to checkpoint: Checkpoint) { tokens[checkpoint.namespace] = checkpoint.token }

    /// The part whose namespaces satisfy the condition.
    package func filter(_ isIncluded: (String) -> Bool) -> CheckpointVector {
        CheckpointVector(tokens.filter { isIncluded($0.key) })
    }
}

/// What the backend is believed to hold for a session.
package enum Position: Hashable, Sendable {
    /// Nobody knows: ask before relying on it. Written ahead of every call that moves checkpoints (finding 4).
    case unknown
    /// Exactly this vector.
    case at(CheckpointVector)
}

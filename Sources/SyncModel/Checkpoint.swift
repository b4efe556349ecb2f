// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The newest ack token of one namespace, as the backend made it.
package struct Checkpoint: Hashable, Sendable {
    /// The scope of the checkpoint, such as `AlbumV1`.
    package let namespace: String
    /// The opaque token: stored and sent back.
    package let token: String

    /// Pairs a token with its namespace.
    package init(namespace: String, token: String) {
        self.namespace = namespace
        self.token = token
    }

    /// Creates the checkpoint of a stream line; the namespace is the token's part before `|`, or the line's own type if
    /// there is no `|`.
    package init(token: String, lineType: String) {
        self.token = token
        if let bar = token.utf8.firstIndex(of: UInt8(ascii: "|")) {
            namespace = String(token[..<bar])
        } else {
            namespace = lineType
        }
    }
}

/// One token for each namespace: the point that a replica has reached in the backend's stream.
package struct CheckpointVector: Hashable, Sendable {
    /// The tokens by namespace.
    package private(set) var tokens: [String: String]

    /// Creates a vector of these tokens; an empty vector requests everything.
    package init(_ tokens: [String: String] = [:]) { self.tokens = tokens }

    /// True if there is no checkpoint at all.
    package var isEmpty: Bool { tokens.isEmpty }

    /// The namespaces in alphabetical order, so that everything derived from a vector is reproducible.
    package var namespaces: [String] { tokens.keys.sorted() }

    /// Returns the token of one namespace.
    package subscript(namespace: String) -> String? {
        get { tokens[namespace] }
        set { tokens[namespace] = newValue }
    }

    /// Stores the newer token of one namespace.
    package mutating func advance(to checkpoint: Checkpoint) { tokens[checkpoint.namespace] = checkpoint.token }

    /// Returns the part of the vector whose namespaces satisfy the condition.
    package func filter(_ isIncluded: (String) -> Bool) -> CheckpointVector {
        CheckpointVector(tokens.filter { isIncluded($0.key) })
    }
}

/// The checkpoint vector that the backend holds for a session, as far as Rind knows.
package enum Position: Hashable, Sendable {
    /// Unknown: ask the backend before relying on it. Recorded before every call that moves checkpoints (finding 4).
    case unknown
    /// Exactly this vector.
    case at(CheckpointVector)

    /// The vector; nil if it is unknown.
    package var vector: CheckpointVector? { if case .at(let vector) = self { vector } else { nil } }
}

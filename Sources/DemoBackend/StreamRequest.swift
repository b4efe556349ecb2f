// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The body of a request to `POST /sync/stream`.
struct StreamRequest: Sendable {
    let types: Set<String>
    let reset: Bool
    /// The tokens of checkpoint style *request*; nil if the session's own are to be used.
    let checkpoints: [String: String]?

    /// Reads a request body.
    ///
    /// - Throws: A 400 for a body of another form and for unknown types, even a single one among many.
    init(body: DemoValue?, requiresCheckpoints: Bool = false) throws {
        guard let body, case .object = body else { throw DemoError.badRequest("body must be a JSON object") }
        guard let types = body["types"]?.array?.map(\.string) else {
            throw DemoError.badRequest("types must be an array of strings")
        }
        self.types = Set(
            try types.map { type in
                guard let type, StreamType.requests.contains(type) else {
                    throw DemoError.badRequest("each value in types must be a known sync request type")
                }
                return type
            })
        try Self.requireOneVersion(of: self.types)
        switch body["reset"] {
        case nil, .null?: reset = false
        case .bool(let flag)?: reset = flag
        default: throw DemoError.badRequest("reset must be a boolean value")
        }
        switch body["checkpoints"] {
        case nil where !requiresCheckpoints, .null? where !requiresCheckpoints: checkpoints = nil
        case .object(let members)?:
            checkpoints = try members.mapValues { token in
                guard let token = token.string else { throw DemoError.badRequest("a checkpoint must be a string") }
                return token
            }
        default: throw DemoError.badRequest("checkpoints must be an object of strings")
        }
    }

    /// Refuses two versions of one type, which would bring the same records twice.
    private static func requireOneVersion(of types: Set<String>) throws {
        for (baseName, versions) in Dictionary(grouping: types, by: { $0.prefix(while: { $0 != "V" }) }) {
            guard versions.count > 1 else { continue }
            throw DemoError.badRequest(
                "\(versions.sorted().joined(separator: " and ")) are both \(baseName): ask for one of them")
        }
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Gateway
import GatewayConfig
import SyncModel

/// A call that changes nothing, and so can be made to see whether the backend is the one that is configured.
struct CheckedCall {
    /// The expected answer.
    enum Kind {
        /// Says who the caller is, at this path.
        case caller(Path)
        /// Lists checkpoints.
        case list
        /// Streams lines of these request types.
        case stream(types: [String])
        /// Sets checkpoints: made without a token, it sets none.
        case acknowledgement
        /// A `GET` where another call of the configuration goes that cannot be made, since it changes something.
        case neighbour
    }

    let kind: Kind
    let call: Call
    /// The key that names it, such as `[backend] list`.
    let key: String
    /// Method and URL path, such as `GET /api/users/me`.
    let address: String

    init(_ kind: Kind, _ call: Call, key: String, settings: BackendSettings) {
        self.kind = kind
        self.call = call
        self.key = key
        address = "\(call.method) \(settings.path(of: call))"
    }

    /// Returns all calls of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration to check.
    ///   - isSignedIn: True if the calls carry a credential; without one no call that changes data is made.
    /// - Returns: The calls, in the order in which to make them.
    static func all(in configuration: Configuration, isSignedIn: Bool) -> [CheckedCall] {
        let settings = configuration.backendSettings
        let schema = configuration.schema
        var calls: [CheckedCall] = []
        if case .backend(let method, let target, let path) = configuration.identity.principal {
            let call = Call(method: method, target: [.text(target)])
            calls.append(CheckedCall(.caller(path), call, key: "[identity] principal", settings: settings))
        }
        if settings.checkpoints == .server, let list = settings.list {
            calls.append(CheckedCall(.list, list, key: "[backend] list", settings: settings))
        }
        let types = schema.requestTypes(at: schema.version)
        calls.append(CheckedCall(.stream(types: types), settings.stream, key: "[backend] stream", settings: settings))
        guard settings.checkpoints == .server else { return calls }
        for (call, key) in [(settings.acknowledge, "[backend] ack"), (settings.forget, "[backend] forget")] {
            // Mostly their path is that of the list, which has shown it.
            guard let call, !calls.contains(where: { settings.path(of: $0.call) == settings.path(of: call) }) else {
                continue
            }
            if isSignedIn, call == settings.acknowledge {
                calls.append(CheckedCall(.acknowledgement, call, key: key, settings: settings))
            } else {
                let get = Call(method: "GET", target: call.target)
                calls.append(CheckedCall(.neighbour, get, key: key, settings: settings))
            }
        }
        return calls
    }

    /// Returns a call of a path that no backend has; an answer like this call's shows nothing about other paths.
    static func madeUp(_ settings: BackendSettings) -> CheckedCall {
        let call = Call(method: "GET", target: [.text("/\(madeUpWord())")])
        return CheckedCall(.neighbour, call, key: "[backend] url", settings: settings)
    }

    /// Returns the call with a made-up last segment of its path; if both are answered alike, the answer shows nothing
    /// about this path.
    func sibling(_ settings: BackendSettings) -> CheckedCall {
        let word = Self.madeUpWord()
        let text = call.target.map { fragment in
            switch fragment {
            case .text(let text): text
            case .placeholder: word
            }
        }.joined()
        let path = text.prefix { $0 != "?" }
        let parents = path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        let other = Call(method: call.method, target: [.text("\(parents)/\(word)\(path.hasSuffix("/") ? "/" : "")")])
        return CheckedCall(.neighbour, other, key: key, settings: settings)
    }

    /// Returns a word that no backend knows.
    static func madeUpWord() -> String {
        "rind-check-\(String(UInt32.random(in: .min ... .max), radix: 16))"
    }
}

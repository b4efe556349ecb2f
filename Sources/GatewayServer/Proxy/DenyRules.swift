// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import GatewayConfig
package import SyncModel

/// Decides which paths never pass through to the backend: those that move checkpoints without the gateway.
package struct DenyRules: Sendable {
    private let patterns: [PathPattern]

    /// Denies the paths of the backend's stream, ack, list, forget and stream push, and those that the operator adds,
    /// each with everything below it.
    ///
    /// All are relative to the backend's URL, like the paths of clients.
    package init(backend: Configuration.Backend, streamPush: Call?) {
        let calls = [backend.stream, backend.ack, backend.list, backend.forget, streamPush].compactMap(\.self)
        patterns = calls.map(Self.pattern).filter { !$0.segments.isEmpty } + backend.deniedPaths
    }

    /// Decides whether a path is denied in any way in which a backend might read it.
    ///
    /// Letters are compared without their case, since many web frameworks do so.
    package func denies(_ path: some StringProtocol) -> Bool {
        let readings = RequestTarget.readings(of: path)
        return patterns.contains { pattern in
            readings.contains { pattern.covers(segments: $0, ignoringCase: true) }
        }
    }

    private static func pattern(of call: Call) -> PathPattern {
        var path = ""
        // A placeholder may hold any text, so its whole segment may be any text.
        for fragment in call.target {
            switch fragment {
            case .text(let text): path += text
            case .placeholder: path += "{"
            }
        }
        let segments = path.prefix { $0 != "?" }.split(separator: "/").map {
            $0.contains("{") ? PathPattern.Segment.any(name: "") : .text(String($0))
        }
        return PathPattern(segments: segments)
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The names and paths that one deployment's apps use, and the limits of a request.
///
/// The defaults understand the documentation's requests and every variant that a server can recognize by itself;
/// variants that it cannot guess (another parameter name, a path into the body) are set in the configuration's `[wire]`
/// section.
package struct WireDialect: Hashable, Sendable {
    /// The limits of one request; a request beyond them gets 413 or 400.
    package struct Limits: Hashable, Sendable {
        /// The greatest nesting depth of a body.
        package var jsonDepth = 64
        /// The most tables that one push may name, including empty ones.
        package var tables = 1_000
        /// The most records and deletions that one push may carry in all tables together.
        package var records = 100_000
        /// The most tables and columns that one migration may name.
        package var migrationNames = 1_000
        /// The most parameters that a query may have.
        package var queryParameters = 4_096
        /// Creates the default limits.
        package init() {}
    }

    /// The names of `lastPulledAt` in query and body.
    package var lastPulledAtNames = ["last_pulled_at", "lastPulledAt"]
    /// The names of `schemaVersion` in query and body.
    package var schemaVersionNames = ["schema_version", "schemaVersion", "schemaversion"]
    /// The header field, in lower case, that states the schema version instead of query and body; nil if none does.
    package var schemaVersionField: String?
    /// The names of `migration` in query and body.
    package var migrationNames = ["migration"]
    /// The names under which a push body holds its changes.
    package var changesNames = ["changes"]
    /// The path of the request's object in a body, as the steps of a JSON pointer (RFC 6901); empty for the body
    /// itself.
    package var bodyPath: [String] = []
    /// The table of a push body that is the set of one table alone; if nil, such bodies are refused.
    package var pushTable: String?
    /// The name of the cursor in a pull answer.
    package var timestampName = "timestamp"
    /// The members that an answer is wrapped in, outermost first.
    package var wrap: [String] = []
    /// The paths that serve both pull and push.
    package var syncPaths = [PathPattern(segments: [.text("sync")])]
    /// The paths that serve pulls only.
    package var pullPaths = [PathPattern(segments: [.text("sync"), .text("pull")])]
    /// The paths that serve pushes only.
    package var pushPaths = [PathPattern(segments: [.text("sync"), .text("push")])]
    /// The parts of an address that calls to the backend use, each with whether one has it in its path: every sync
    /// must name them.
    package var scope: [ScopeName: Bool] = [:]
    /// The limits of a request.
    package var limits = Limits()

    /// Creates the default dialect.
    package init() {}

    /// Returns the steps of a JSON pointer such as `/json/0/a~1b`; nil if the text is none (RFC 6901: not empty and
    /// without a leading slash, or with `~` before anything but `0` and `1`).
    package static func steps(ofPointer pointer: String) -> [String]? {
        if pointer.isEmpty { return [] }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        var steps: [String] = []
        for part in pointer.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            var step: [UInt8] = []
            var rest = part
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "~") else {
                    step.append(byte)
                    continue
                }
                switch rest.popFirst() {
                case UInt8(ascii: "0"): step.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): step.append(UInt8(ascii: "/"))
                default: return nil
                }
            }
            steps.append(String(decoding: step, as: UTF8.self))
        }
        return steps
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Deduplication
import Logging
import SyncMachines
import SyncModel

// The log of a stream.
extension StreamRunner {
    /// Logs the flaws of lines, one line for each kind that did not occur before.
    func logFlaws(since before: StreamFlaws = StreamFlaws()) {
        let kinds = spooler.flaws.kinds.filter { before.kinds[$0.key] == nil }
        for (kind, lines) in kinds.sorted(by: { $0.key.code < $1.key.code }) {
            let first = lines.first.map { "\($0.number)" + ($0.type.map { " (\($0))" } ?? "") }
            scope.logger.notice(
                "lines of the backend's stream are not as agreed on",
                metadata: [
                    "code": "\(kind.code)", "lines": "\(lines.count)", "first": "\(first.joined(separator: ", "))",
                ])
        }
    }

    /// Logs the types that the backend refuses, once it accepts the others: until then they are a guess.
    mutating func logRefusedTypes(_ types: Set<String>) {
        guard let loggedRefused, types != loggedRefused else { return }
        self.loggedRefused = types
        scope.logger.error(
            "the backend does not take some request types any more; their tables get nothing, the others go on",
            metadata: [
                "code": "backend.types", "types": "\(types.sorted().joined(separator: " "))",
                "tables": "\(scope.query.tables(filledBy: types).joined(separator: " "))",
                "hint": "change 'request' in the configuration, with 'then … since N' for clients of other versions",
            ])
    }

    /// Logs the end of an answer that is whole but has no complete line.
    mutating func logBrokenEnd() {
        let end = spooler.finishRequest()
        var metadata: Logger.Metadata = [
            "code": "stream.incomplete", "lines": "\(end.lines)",
            "call": "\(scope.services.backend.settings.stream.title)",
        ]
        if let type = end.lastType { metadata["last_type"] = "\(type)" }
        guard end.unfinishedBytes > 0 else {
            scope.logger.notice("the backend's stream ended without its complete line", metadata: metadata)
            return
        }
        metadata["code"] = "stream.no_line_end"
        metadata["bytes"] = "\(end.unfinishedBytes)"
        scope.logger.notice(
            "the last line of the backend's stream has no line end, so it is not whole", metadata: metadata)
    }

    /// Logs that the backend refuses a stream request that presents tokens, which may be their fault.
    func logRefusedRequest(status: Int) {
        scope.logger.notice(
            "the backend refuses a stream request with tokens; it is asked again without them",
            metadata: ["code": "backend.tokens_refused", "status": "\(status)"])
    }

    /// Logs that the backend refuses its own checkpoints; the pull starts from the beginning.
    func logRefusedTokens(status: Int) {
        scope.logger.error(
            "the backend refuses checkpoints that it has made itself",
            metadata: ["code": "backend.tokens_refused", "status": "\(status)"])
    }

    /// Logs that the backend refuses names of checkpoints that it holds.
    func logRefusedNames(_ namespaces: [String], status: Int) {
        scope.logger.notice(
            "the backend does not take the names of checkpoints that it holds: all are forgotten and set anew",
            metadata: ["status": "\(status)", "namespaces": "\(namespaces.prefix(20).joined(separator: " "))"])
    }
}

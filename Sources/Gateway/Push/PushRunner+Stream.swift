// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import Telemetry

// Stream pushes: one request, or one for each batch.
extension PushRunner {
    /// Sends all operations, or those of a batch, in one request.
    ///
    /// - Throws: Any error; of the backend's, ``postponed(by:)`` has the events.
    mutating func sendAll(
        base: CheckpointVector?, without: Set<Int>, batch: Range<Int>?
    ) async throws -> PushEvent {
        let (indices, refused) = try scope.sendable((batch ?? operations.indices).filter { !without.contains($0) })
        guard refused.isEmpty else { return .refused(PushRefusal(kind: .rejected, records: refused)) }
        guard !indices.isEmpty else { return .applied }
        let lines = OperationLines(
            operations: indices.map { operations[$0] }, reader: scope.reader, base: base,
            completeNamespace: services.configuration.backend.completeType)
        try await LeaseKeeper.assure()
        if services.makesIDs { services.making.begin(scope.principal) }
        defer { if services.makesIDs { services.making.end(scope.principal) } }
        let result = try await backend.pushStream(
            try lines.body(), count: lines.operations.count, key: key(without: without, batch: batch),
            identity.forwarded)
        switch result {
        case .applied(let results):
            // The ids are in this answer only.
            try await learn(results, lines.operations)
            try await acceptance.accepted()
            return .applied
        case .refused(let lines):
            // What is missing of an orphan is what it refers to, and no pull brings that.
            let doubtful = lines.filter { $0.outcome == .rejected || $0.outcome == .missing }
            let orphans = await OrphanSearch(scope: scope).orphans(among: doubtful.map { indices[$0.line] })
            return .refused(refusal(lines, indices, orphans: orphans))
        }
    }

    /// Returns the event for an error of a stream push, which does not say if it was applied; nil if nothing was.
    mutating func postponed(by error: BackendError) -> PushEvent? {
        // The key makes a repetition harmless.
        if error.isTransient, !error.isDown {
            delay = error
            logger.notice("the backend puts a push off", metadata: ["code": "\(error.code)", "error": "\(error)"])
            return .notNow(after: delay?.retryAfter?.milliseconds, isKnown: !error.isOutcomeUnknown)
        }
        guard error.isOutcomeUnknown else { return nil }
        if case .resultsMissing(let missing, _) = error { SyncTrace.note { $0.missingResults += missing } }
        logger.warning("a push's outcome is unknown", metadata: ["code": "\(error.code)", "error": "\(error)"])
        return .unknownOutcome
    }

    /// Returns the key of a request: leaving out operations, or other operations, makes it another request.
    private func key(without: Set<Int>, batch: Range<Int>?) -> String {
        var key = idempotencyKey
        if let batch { key += "-from-\(batch.lowerBound)" }
        // Every repetition of a batch's request leaves out more operations.
        if !without.isEmpty { key += "-\(without.count)" }
        return key
    }

    /// Returns the refusal of a stream push: its conflicts if there are any, because a new pull may resolve the rest.
    ///
    /// A line's number is an index into `indices`, the operations that were sent.
    private func refusal(_ lines: [StreamPushLine], _ indices: [Int], orphans: Set<Int>) -> PushRefusal {
        let conflicts = lines.filter {
            $0.outcome == .conflict || $0.outcome == .missing && !orphans.contains(indices[$0.line])
        }
        let shown = conflicts.isEmpty ? lines : conflicts
        return PushRefusal(
            kind: conflicts.isEmpty ? .rejected : .conflict,
            records: shown.map { line in
                let sentence = line.message.map { ": " + identity.forwarded.masked(in: ForeignText.escaped($0)) }
                return scope.record(
                    at: indices[line.line], "outcome \(line.outcome.rawValue)" + (sentence ?? ""),
                    by: services.backend.settings.streamPush)
            }
        ).marking(orphans)
    }

    /// Saves the ids in the answer to a stream push; its line numbers are indices into the operations that were sent.
    private mutating func learn(_ lines: [StreamPushLine], _ operations: [PushOperation]) async throws {
        guard scope.reader.ids.translates else { return }
        var returned: [Int: String] = [:]
        for line in lines { returned[line.line] = line.id }
        let (mappings, unfit) = scope.reader.learn(returned, operations)
        if let error = unfit.first {
            logger.error(
                "records are created under ids that cannot be kept",
                metadata: ["code": "push.unkept_id", "records": "\(unfit.count)", "error": "\(error)"])
        }
        guard !mappings.isEmpty else { return }
        _ = try await scope.change { try IDRules.save(mappings, at: scope.now, in: &$0) }
    }
}

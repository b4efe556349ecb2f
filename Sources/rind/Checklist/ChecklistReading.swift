// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import SyncMachines
import SyncModel

/// Tries the points of the backend's checklist that need no push.
struct ChecklistReading {
    let settings: BackendSettings
    var session: ChecklistSession
    var results = ChecklistResults()

    /// Tries the points that need no push.
    ///
    /// - Returns: The whole stream; nil if it cannot be read, so that nothing else can be tried.
    mutating func tryAll() async throws(ChecklistFailure) -> ChecklistStream? {
        try await session.forgetAll()
        let everything = try await session.stream()
        if let fault = everything.fault {
            results.expect(false, .confirmed, or: "before that, \(fault)")
            return nil
        }
        if everything.lines.count > 1 {
            results.leave([.emptyAccount], because: "the account has \(everything.summary): try an empty one")
        } else {
            results.expect(everything.completeToken != nil, .emptyAccount, or: everything.summary)
        }
        try await tryConfirming(everything)
        let status = try await session.status(toType: "RindChecklistV1")
        results.expect(status == 400, .unknownType, or: "status \(status) to the type RindChecklistV1")
        if everything.records.count > 1 {
            try await trySettingBack(everything)
            try await tryCutting(everything)
        } else {
            results.leave([.setBack, .cut], because: "the account has fewer than two records")
        }
        try await session.confirm(everything.lines)
        return everything
    }

    private mutating func tryConfirming(_ everything: ChecklistStream) async throws(ChecklistFailure) {
        try await session.confirm(everything.lines)
        let again = try await session.stream()
        results.expect(
            again.fault == nil && again.lines.count == 1, .confirmed, or: again.fault ?? "\(again.summary) came")
        try await session.confirm(again.lines)
    }

    private mutating func trySettingBack(_ everything: ChecklistStream) async throws(ChecklistFailure) {
        // A backfill, which a line without data ends, goes back to another line than its own.
        let backfills = Set(everything.lines.filter { $0.table == nil }.map(\.checkpoint.namespace))
        let lines = everything.records.filter { !backfills.contains($0.checkpoint.namespace) }
        let groups = Dictionary(grouping: lines, by: \.checkpoint.namespace)
            .filter { Set($0.value.map(\.checkpoint.token)).count > 1 }
        guard let (namespace, own) = groups.min(by: { $0.key < $1.key }), let first = own.first else {
            return results.leave([.setBack], because: "no type has two records")
        }
        try await session.confirm([first])
        let later = try await session.stream()
        let missing = Set(own.dropFirst().map(\.content)).subtracting(later.records.map(\.content))
        results.expect(
            missing.isEmpty, .setBack,
            or: "\(namespace) was set back to its first line, and \(missing.count) of \(own.count - 1) did not come")
        results.expect(
            !later.lines.contains { $0.checkpoint == first.checkpoint }, .setBack,
            or: "\(namespace) was set back to its first line, which came again")
        try await session.forget(namespace)
        let all = try await session.stream()
        let lost = Set(own.map(\.content)).subtracting(all.records.map(\.content))
        results.expect(
            lost.isEmpty, .setBack,
            or: "\(namespace) was forgotten, and \(lost.count) of \(own.count) lines did not come")
        try await session.confirm(everything.lines)
    }

    private mutating func tryCutting(_ everything: ChecklistStream) async throws(ChecklistFailure) {
        try await session.forgetAll()
        // Whether its end is still on the way when the rest of a stream is dropped depends on the network.
        results.leavePart(of: .cut, because: "half of a stream was dropped, and no line broken off")
        let beginning = try await session.stream(upTo: everything.lines.count / 2).lines
        try await session.confirm(beginning)
        let rest = try await session.stream()
        let confirmed = Set(beginning.map(\.checkpoint))
        let repeated = rest.records.filter { confirmed.contains($0.checkpoint) }
        results.expect(
            repeated.isEmpty, .cut, or: "\(repeated.count) lines that were confirmed came again after a cut")
        let missing = Set(everything.records.map(\.content))
            .subtracting((beginning + rest.lines).map(\.content))
        results.expect(
            missing.isEmpty && rest.fault == nil, .cut,
            or: rest.fault ?? "\(missing.count) lines that were not confirmed did not come after a cut")
        try await session.confirm(rest.lines)
    }

    /// Lets another session of the user begin at nothing, and then this one.
    mutating func tryTwoSessions(
        _ everything: ChecklistStream, _ secondSession: ChecklistSession
    ) async throws(ChecklistFailure) {
        var second = secondSession
        func expect(_ stream: ChecklistStream, toHave count: Int, _ text: String) {
            let came = stream.fault ?? "\(stream.records.count) records came, not \(count)"
            results.expect(stream.fault == nil && stream.records.count == count, .twoSessions, or: "\(text): \(came)")
        }
        let count = everything.records.count
        try await second.forgetAll()
        expect(try await session.stream(), toHave: 0, "to the first session, after the second was set back")
        expect(try await second.news(), toHave: count, "to the second session, after it was set back")
        try await session.forgetAll()
        expect(try await second.stream(), toHave: 0, "to the second session, after the first was set back")
        expect(try await session.news(), toHave: count, "to the first session, after it was set back")
    }

    /// Presents a token ahead of all that the backend has given out, which it has to refuse, or to answer with a reset.
    mutating func tryFutureToken(_ everything: ChecklistStream) async throws(ChecklistFailure) {
        guard let last = everything.lines.last?.checkpoint, let ahead = TokenAge.ahead(of: last.token) else {
            return results.leave([.futureToken], because: "no part of the complete token counts or tells a time")
        }
        do throws(ChecklistFailure) {
            try await session.confirm(CheckpointVector([last.namespace: ahead]))
            let stream = try await session.stream()
            results.expect(
                stream.resetToken != nil, .futureToken,
                or: "after '\(ahead.shown(upTo: 80))' came \(stream.fault ?? stream.summary)")
            if settings.checkpoints == .server, let reset = stream.resetToken {
                try await session.confirm(CheckpointVector([reset.namespace: reset.token]))
            }
        } catch {
            results.expect(
                error.isAboutTokens, .futureToken, or: "after '\(ahead.shown(upTo: 80))': \(error.cause)")
        }
        // The session must not be left with it.
        try await session.forgetAll()
    }
}

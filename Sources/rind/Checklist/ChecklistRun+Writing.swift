// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Gateway
import GatewayConfig
import SyncModel

extension ChecklistRun {
    /// Tries the points of pushes with records that are deleted again.
    mutating func tryWriting(after everything: ChecklistStream) async throws(ChecklistFailure) {
        guard settings.streamPush != nil else {
            return results.leave(
                writtenPoints,
                because: "the configuration pushes by calls, which 'rind conform --write' tries at a gateway")
        }
        try await other?.forgetAll()
        othersView = try await other?.news()
        if let fault = othersView?.fault {
            results.leave([.otherUsers, .movedRecord], because: "to the second account, \(fault)")
            other = nil
        }
        // What both see may be theirs together, and so may what is made like it.
        let own = everything.records(unknownTo: othersView)
        guard let scratch = ScratchRecord(configuration, own, random: Randomness.system.next()) else {
            return results.leave(
                writtenPoints, because: "no table has ids of apps, a column of text, and a record or no reference")
        }
        try await using(scratch) { run, mayExist throws(ChecklistFailure) in
            try await run.tryPushes(of: scratch, mayExist: &mayExist)
        }
        try await tryLostParent(everything)
        try await tryMoving(everything)
    }

    /// Lets the body push a record, and deletes it; what is left behind is a failure of its own.
    ///
    /// The body says whether the record may be there, also if it throws.
    mutating func using(
        _ scratch: ScratchRecord,
        _ body: (inout Self, _ mayExist: inout Bool) async throws(ChecklistFailure) -> Void
    ) async throws(ChecklistFailure) {
        // If the check is killed, this says what to delete.
        Console.error("The check makes '\(scratch.id)' in '\(scratch.table.name)', and deletes it again.")
        var (mayExist, failure) = (false, ChecklistFailure?.none)
        do throws(ChecklistFailure) { try await body(&self, &mayExist) } catch { failure = error }
        if mayExist, let answer = try? await session.push([scratch.operation(.delete)]) { mayExist = !answer.isApplied }
        if mayExist {
            results.failures.append(
                CheckFinding(
                    .wrong, "the record of the check cannot be deleted",
                    hint: "left behind: '\(scratch.id)' of '\(scratch.table.name)', which has to be deleted"))
        }
        if let failure { throw failure }
        _ = try await session.news()
    }

    /// Makes the record, or changes one that is not there, and notes whether it may be there then.
    mutating func push(
        _ operation: StreamPushOperation, key: String = ChecklistSession.key(), mayExist: inout Bool
    ) async throws(ChecklistFailure) -> StreamPushResult {
        do throws(ChecklistFailure) {
            let answer = try await session.push([operation], key: key)
            mayExist = answer.isApplied
            return answer
        } catch {
            mayExist = error.cause.isOutcomeUnknown
            throw error
        }
    }

    /// Makes, changes and deletes the record.
    private mutating func tryPushes(
        of scratch: ScratchRecord, mayExist: inout Bool
    ) async throws(ChecklistFailure) {
        let key = ChecklistSession.key()
        let created = try await push(scratch.operation(.create, text: 1), key: key, mayExist: &mayExist)
        guard mayExist else {
            return results.expect(
                false, .oneLineEach, or: "the create of '\(scratch.table.name)' was refused: \(created.words)")
        }
        let base = try await expectOne(.oneLineEach, "after the create", of: scratch, text: 1)
        try await expectUnseen(scratch, "a record that the first user made")
        try await trySameKey(key, scratch, first: created)
        if await isApplied((2...4).map { scratch.operation(.update, text: $0) }, for: .oneLineEach, "three updates") {
            _ = try await expectOne(.oneLineEach, "after three updates", of: scratch, text: 4)
        }
        try await tryBadLine(scratch)
        try await tryOldBase(base, of: scratch)
        try await tryDeleting(scratch, mayExist: &mayExist)
        try await expectUnseen(scratch, "the delete of a record of the first user")
    }

    /// Updates the record with the token of its create, which three updates have followed.
    private mutating func tryOldBase(_ base: String?, of scratch: ScratchRecord) async throws(ChecklistFailure) {
        if scratch.table.conflicts != .backend {
            results.leavePart(
                of: .oldBase, because: "no base is sent with 'conflicts = \(scratch.table.conflicts.rawValue)'")
        } else if let base {
            let answer = try await session.push([scratch.operation(.update, text: 6, base: base)])
            results.expect(
                answer.outcomes == [.conflict], .oldBase,
                or: "an update with the base of before three updates: \(answer.words)")
        } else {
            results.leavePart(of: .oldBase, because: "the create has brought no token")
        }
    }

    private mutating func trySameKey(
        _ key: String, _ scratch: ScratchRecord, first: StreamPushResult
    ) async throws(ChecklistFailure) {
        let again = try await session.push([scratch.operation(.create, text: 1)], key: key)
        results.expect(again == first, .sameKey, or: "the second answer: \(again.words)")
        let status = try await session.status(toPush: [scratch.operation(.create, text: 5)], key: key)
        results.expect(status == 422, .sameKey, or: "another body with the key: status \(status)")
        try await expectNothing(.sameKey)
    }

    private mutating func tryBadLine(_ scratch: ScratchRecord) async throws(ChecklistFailure) {
        var bad = scratch.operation(.update, text: 5)
        bad.table = "rind_checklist"
        let answer = try await session.push([scratch.operation(.update, text: 5), bad])
        guard case .refused(let lines) = answer else {
            return results.expect(false, .badLine, or: "a line of an unknown table was applied")
        }
        results.expect(lines.map(\.line) == [1], .badLine, or: "the bad line is 1: \(answer.words)")
        try await expectNothing(.badLine)
    }

    /// Deletes the record, and then tries what becomes of changes to it.
    private mutating func tryDeleting(
        _ scratch: ScratchRecord, mayExist: inout Bool
    ) async throws(ChecklistFailure) {
        guard await isApplied([scratch.operation(.delete)], for: .oneLineEach, "the delete") else { return }
        mayExist = false
        _ = try await expectOne(.oneLineEach, "after the delete", of: scratch, text: nil)
        _ = await isApplied([scratch.operation(.delete)], for: .oldBase, "a delete of nothing")
        let updated = try await push(scratch.operation(.update, text: 7), mayExist: &mayExist)
        results.expect(
            [[.missing], [.conflict]].contains(updated.outcomes), .oldBase,
            or: "an update of a deleted record: \(updated.words)")
    }

    /// Pushes operations that have to be applied; whatever else is answered, the point fails.
    private mutating func isApplied(
        _ operations: [StreamPushOperation], for point: ChecklistPoint, _ what: String
    ) async -> Bool {
        do throws(ChecklistFailure) {
            let answer = try await session.push(operations)
            results.expect(answer.isApplied, point, or: "\(what): \(answer.words)")
            return answer.isApplied
        } catch {
            results.expect(false, point, or: "\(what): \(error.cause)")
            return false
        }
    }

    /// Makes a record under a parent that does not exist.
    private mutating func tryLostParent(_ everything: ChecklistStream) async throws(ChecklistFailure) {
        guard
            var child = ScratchRecord(
                configuration, everything.records, random: Randomness.system.next(), needsParent: true)
        else {
            return results.leave(
                [.lostParent],
                because: "needs a record in a table with a reference, a column of text, and ids that apps make")
        }
        child.put(under: child.id)
        try await using(child) { [child] run, mayExist throws(ChecklistFailure) in
            let answer = try await run.push(child.operation(.create, text: 1), mayExist: &mayExist)
            run.results.expect(
                answer.isApplied || [[.rejected], [.missing]].contains(answer.outcomes), .lostParent,
                or: "the create of '\(child.table.name)': \(answer.words)")
            // Whether the parent was the reason is for a reader to tell.
            run.results.leavePart(
                of: .lostParent,
                because: answer.isApplied
                    ? "the backend takes a record with any parent" : "the reason must be the parent: \(answer.words)")
        }
    }

    /// Expects one line, with the record; a stream that is behind the push is asked again for a while.
    ///
    /// - Returns: The line's token.
    private mutating func expectOne(
        _ point: ChecklistPoint, _ moment: String, of scratch: ScratchRecord, text number: Int?
    ) async throws(ChecklistFailure) -> String? {
        let (news, lag) = try await session.awaitNews()
        if let lag, !news.records.isEmpty {
            self.lag = max(self.lag, lag)
            results.leavePart(
                of: .laggingReplica,
                because: "a stream was \(lag.milliseconds) ms behind a push: [ledger] settle must be much longer")
        }
        let isRight = news.records.count == 1 && news.records.allSatisfy { scratch.isBrought(by: $0, text: number) }
        let waited = lag == nil || !news.records.isEmpty ? "" : " within \(ChecklistSession.patience)"
        results.expect(isRight, point, or: "\(moment) came\(waited) \(news.fault ?? news.summary)")
        return news.records.first?.checkpoint.token
    }

    /// Expects that nothing is new.
    private mutating func expectNothing(_ point: ChecklistPoint) async throws(ChecklistFailure) {
        try? await Task.sleep(for: lag * 2)
        let news = try await session.news()
        results.expect(
            news.fault == nil && news.records.isEmpty, point,
            or: news.fault ?? "\(news.summary) came, and nothing was to be applied")
    }

    /// Expects that the other user gets nothing of the record.
    private mutating func expectUnseen(_ scratch: ScratchRecord, _ what: String) async throws(ChecklistFailure) {
        guard other != nil else { return }
        try? await Task.sleep(for: lag * 2)
        guard let news = try await other?.news() else { return }
        results.expect(
            news.fault == nil && !news.records.contains { $0.table == scratch.tableIndex && $0.recordID == scratch.id },
            .otherUsers, or: news.fault ?? "\(what) of '\(scratch.table.name)' came to the second one")
        results.leavePart(of: .otherUsers, because: "with a record of '\(scratch.table.name)' alone")
    }
}

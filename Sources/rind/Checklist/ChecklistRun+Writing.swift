// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import Gateway
import GatewayConfig
import NIOCore
import SyncModel

extension ChecklistRun {
    /// Tries the points of pushes with a record that is deleted again.
    ///
    /// - Returns: The call that failed, and what is left behind.
    mutating func tryWriting(after everything: ChecklistStream) async throws(BackendError) -> [CheckFinding] {
        let points = ChecklistPoint.allCases.filter(\.needsPush)
        guard client.settings.streamPush != nil else {
            results.leave(
                points, because: "the configuration pushes by calls, which 'rind conform --write' tries at a gateway")
            return []
        }
        guard let scratch = ScratchRecord(configuration, everything, random: Randomness.system.next()) else {
            results.leave(points, because: "no table has ids of apps, a column of text, and a record or no reference")
            return []
        }
        var findings: [CheckFinding] = []
        var mayExist = false
        do throws(BackendError) { try await tryPushes(of: scratch, mayExist: &mayExist) } catch {
            findings.append(made.failed(error, at: client.settings))
        }
        if mayExist, let answer = try? await push([scratch.operation(.delete)]) { mayExist = !Self.isApplied(answer) }
        guard mayExist else { return findings }
        return findings + [
            CheckFinding(
                .wrong, "the record of the check cannot be deleted", of: "point",
                hint: "left behind: '\(scratch.id)' of '\(scratch.table.name)', which has to be deleted")
        ]
    }

    /// Makes, changes and deletes the record; `mayExist` says whether it may be there, also if this throws.
    private mutating func tryPushes(of scratch: ScratchRecord, mayExist: inout Bool) async throws(BackendError) {
        let key = Self.key()
        let created: StreamPushResult
        do throws(BackendError) { created = try await push([scratch.operation(.create, text: 1)], key: key) } catch {
            mayExist = error.isOutcomeUnknown
            throw error
        }
        mayExist = Self.isApplied(created)
        guard mayExist else {
            return results.expect(
                false, .oneLineEach, or: "the create of '\(scratch.table.name)' was refused: \(Self.words(created))")
        }
        let base = try await expectOne(.oneLineEach, "after the create", of: scratch, text: 1)
        try await trySameKey(key, scratch, first: created)
        for number in 2...4 { _ = try await push([scratch.operation(.update, text: number)]) }
        _ = try await expectOne(.oneLineEach, "after three updates", of: scratch, text: 4)
        try await tryBadLine(scratch)
        try await tryOldBase(base, of: scratch)
        mayExist = !(try await tryDeleting(scratch))
    }

    /// Updates the record with the token of its create, which three updates have followed.
    private mutating func tryOldBase(_ base: String?, of scratch: ScratchRecord) async throws(BackendError) {
        if scratch.table.conflicts != .backend {
            results.leavePart(
                of: .oldBase, because: "no base is sent with 'conflicts = \(scratch.table.conflicts.rawValue)'")
        } else if let base {
            let answer = try await push([scratch.operation(.update, text: 6, base: base)])
            results.expect(
                Self.outcomes(answer) == [.conflict], .oldBase,
                or: "an update with the base of before three updates: \(Self.words(answer))")
        } else {
            results.leavePart(of: .oldBase, because: "the create has brought no token")
        }
    }

    private mutating func trySameKey(
        _ key: String, _ scratch: ScratchRecord, first: StreamPushResult
    ) async throws(BackendError) {
        let again = try await push([scratch.operation(.create, text: 1)], key: key)
        results.expect(again == first, .sameKey, or: "the second answer: \(Self.words(again))")
        let other = Self.lines([scratch.operation(.create, text: 5)])
        make(.push)
        let status = try await client.probePush(other, key: key, credentials).status
        results.expect(status == 422, .sameKey, or: "another body with the key: status \(status)")
        let news = try await self.news()
        results.expect(news.records.isEmpty, .sameKey, or: "\(news.summary) came, and nothing was to be applied")
    }

    private mutating func tryBadLine(_ scratch: ScratchRecord) async throws(BackendError) {
        var bad = scratch.operation(.update, text: 5)
        bad.table = "rind_checklist"
        let answer = try await push([scratch.operation(.update, text: 5), bad])
        guard case .refused(let lines) = answer else {
            return results.expect(false, .badLine, or: "a line of an unknown table was applied")
        }
        results.expect(lines.map(\.line) == [1], .badLine, or: "the bad line is 1: \(Self.words(answer))")
        let news = try await self.news()
        results.expect(news.records.isEmpty, .badLine, or: "\(news.summary) came, and nothing was to be applied")
    }

    /// Deletes the record, and then tries what becomes of changes to it.
    ///
    /// - Returns: True if the record is not there in the end.
    private mutating func tryDeleting(_ scratch: ScratchRecord) async throws(BackendError) -> Bool {
        let deleted = try await push([scratch.operation(.delete)])
        results.expect(Self.isApplied(deleted), .oneLineEach, or: "the delete: \(Self.words(deleted))")
        _ = try await expectOne(.oneLineEach, "after the delete", of: scratch, text: nil)
        let again = try await push([scratch.operation(.delete)])
        results.expect(Self.isApplied(again), .oldBase, or: "a delete of nothing: \(Self.words(again))")
        let updated = try await push([scratch.operation(.update, text: 7)])
        results.expect(
            [[.missing], [.conflict]].contains(Self.outcomes(updated)), .oldBase,
            or: "an update of a deleted record: \(Self.words(updated))")
        var isGone = Self.isApplied(deleted) || Self.isApplied(again)
        if Self.isApplied(updated) { isGone = Self.isApplied(try await push([scratch.operation(.delete)])) }
        _ = try await news()
        return isGone
    }

    /// Expects one line, with the record.
    ///
    /// - Returns: The line's token.
    private mutating func expectOne(
        _ point: ChecklistPoint, _ moment: String, of scratch: ScratchRecord, text number: Int?
    ) async throws(BackendError) -> String? {
        let news = try await self.news()
        let isRight = news.records.count == 1 && news.records.allSatisfy { scratch.isBrought(by: $0, text: number) }
        results.expect(isRight, point, or: "\(moment) came \(news.fault ?? news.summary)")
        return news.records.first?.checkpoint.token
    }

    /// Reads what is new, and confirms it.
    private mutating func news() async throws(BackendError) -> ChecklistStream {
        let news = try await stream()
        try await confirm(news.lines)
        return news
    }

    private mutating func push(
        _ operations: [StreamPushOperation], key: String = key()
    ) async throws(BackendError) -> StreamPushResult {
        make(.push)
        return try await client.pushStream(
            .bytes(Self.lines(operations)), count: operations.count, key: key, credentials)
    }

    private static func lines(_ operations: [StreamPushOperation]) -> ByteBuffer {
        var lines = ByteBuffer()
        for operation in operations { operation.append(to: &lines) }
        return lines
    }

    private static func key() -> String { "rind-checklist-\(String(Randomness.system.next(), radix: 36))" }

    private static func isApplied(_ answer: StreamPushResult) -> Bool {
        if case .applied = answer { true } else { false }
    }

    private static func outcomes(_ answer: StreamPushResult) -> [StreamPushLine.Outcome] {
        switch answer {
        case .applied(let lines), .refused(let lines): lines.map(\.outcome)
        }
    }

    /// Returns the answer in words.
    private static func words(_ answer: StreamPushResult) -> String {
        switch answer {
        case .applied: "it was applied"
        case .refused(let lines):
            lines.map {
                "line \($0.line) \($0.outcome.rawValue)" + ($0.message.map { ", '\($0.shown(upTo: 100))'" } ?? "")
            }
            .joined(separator: "; ")
        }
    }
}

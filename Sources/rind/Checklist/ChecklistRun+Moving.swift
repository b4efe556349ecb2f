// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import SyncModel

extension ChecklistRun {
    /// Moves a record from a parent that both users see to one that only the first sees, and back.
    mutating func tryMoving(_ everything: ChecklistStream) async throws(ChecklistFailure) {
        guard other != nil, let othersView else { return }
        guard
            var child = ScratchRecord(
                configuration, everything.records, random: Randomness.system.next(), needsParent: true),
            let parents = child.parentTable.map({ (own: everything.ids(of: $0), others: othersView.ids(of: $0)) }),
            let shared = parents.own.intersection(parents.others).min(),
            let hidden = parents.own.subtracting(parents.others).min()
        else {
            return results.leave(
                [.movedRecord],
                because: "needs a parent that both users see, and one that only the first user sees")
        }
        child.put(under: shared)
        try await using(child) { [child] run, mayExist throws(ChecklistFailure) in
            let created = try await run.push(child.operation(.create, text: 1), mayExist: &mayExist)
            guard created.isApplied else {
                return run.results.leave([.movedRecord], because: "the create was refused: \(created.words)")
            }
            try await run.expectOther("after its create under '\(shared)'", child, isDeletion: false)
            for (parent, isDeletion) in [(hidden, true), (shared, false)] {
                let answer = try await run.session.push([child.move(under: parent)])
                guard answer.isApplied else {
                    return run.results.expect(false, .movedRecord, or: "the move to '\(parent)': \(answer.words)")
                }
                try await run.expectOther("after it was moved to '\(parent)'", child, isDeletion: isDeletion)
            }
            run.results.leavePart(of: .movedRecord, because: "a record without descendants was moved")
        }
        _ = try await other?.news()
    }

    /// Expects that the other user gets the record, or its deletion.
    private mutating func expectOther(
        _ moment: String, _ child: ScratchRecord, isDeletion: Bool
    ) async throws(ChecklistFailure) {
        let isOwn = { (line: ChecklistStream.Line) in line.table == child.tableIndex && line.recordID == child.id }
        guard let news = try await other?.awaitNews({ $0.records.contains(where: isOwn) }).stream else { return }
        let own = news.records.filter(isOwn)
        let came = news.fault ?? (own.isEmpty ? "nothing of it" : own.last?.isDeletion == true ? "its delete" : "it")
        results.expect(
            own.last?.isDeletion == isDeletion, .movedRecord,
            or: "a record of '\(child.table.name)', \(moment): \(came) came to the second user")
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteState
import StateStore
import SyncModel
import Testing

/// What the journal costs for each operation, without any calls.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["RIND_BENCH"] != nil), .serialized) struct JournalBench {
    private static let operations = 2_048

    private static func note(_ index: Int, _ state: PushNote.State) -> PushNote {
        PushNote(table: "tasks", id: "0197-\(index)", state: state, links: [UInt64(index)])
    }

    private static func operationInFlight(_ index: Int, makesID: Bool) -> InFlightOperation {
        InFlightOperation(
            index: index, kind: .create, record: PushedRecordKey(table: "tasks", id: "0197-\(index)"), makesID: makesID,
            request: makesID
                ? InFlightOperation.Request(
                    method: "POST", target: "/tasks", body: Array(repeating: 0x61, count: 300), key: "k-\(index)") : nil
        )
    }

    @Test(arguments: [(1, false), (64, false), (128, false), (1, true), (4, true), (8, true)])
    func `cost of an operation`(_ row: (callBatch: Int, makesID: Bool)) async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                let clock = ContinuousClock()
                var id: Int64 = 0
                let opening = try await clock.measure {
                    let notes = (0..<Self.operations).map { Self.note($0, .seen) }
                    id = try await store.beginPush(
                        JournalOpening(presented: nil, operations: Self.operations, notes: notes), principal: alice,
                        at: now)
                }
                let time = try await clock.measure {
                    var step = JournalStep()
                    for start in stride(from: 0, to: Self.operations, by: row.callBatch) {
                        let indices = start..<start + row.callBatch
                        step.inFlight = indices.map { Self.operationInFlight($0, makesID: row.makesID) }
                        try await store.advance(step, of: id, at: now)
                        step = JournalStep()
                        step.applied = Array(indices)
                        step.notes = indices.map { Self.note($0, .held) }
                        if row.makesID {
                            step.mappings = indices.map {
                                IDMapping(table: "tasks", clientID: "0197-\($0)", backendID: "\($0)")
                            }
                        }
                    }
                    try await store.endPush(JournalEnd(step: step), of: id, at: now)
                }
                let (each, first) = (time / Self.operations, opening / Self.operations)
                print(
                    "journal: \(row.callBatch) a transaction, ids \(row.makesID): \(each) an operation, seen \(first)")
            }
        }
    }
}

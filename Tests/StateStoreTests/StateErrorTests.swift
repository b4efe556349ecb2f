// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel
import Testing

@Suite struct StateErrorTests {
    private static func all() throws -> [(StateError, String, isTransient: Bool)] {
        [
            (.open(path: "/s", reason: "permission denied"), "state.open", false),
            (.inUse(path: "/s", holder: "7"), "state.in_use", false), (.notRind(path: "/s"), "state.not_rind", false),
            (.schemaNewer(path: "/s", found: 9, known: 1), "state.schema_newer", false),
            (.corrupt("x"), "state.corrupt", false), (.outdated(path: "/s", found: 1), "state.outdated", false),
            (.copying(path: "/s"), "state.copying", false),
            (.full, "state.full", true), (.busy, "state.busy", true), (.readOnly("x"), "state.read_only", false),
            (.replaced(path: "/s"), "state.replaced", false), (.io("x"), "state.io", true),
            (.slow, "state.slow", true), (.closed, "state.closed", false),
            (.cursorTaken(newest: try cursor(1)), "state.cursor_taken", true),
            (.cursorUnknown(try cursor(1)), "state.cursor_unknown", true),
            (.replicaUnknown(ReplicaID(rawValue: 1)), "state.replica_unknown", true),
            (.generationChanged(current: 1), "state.generation_changed", true),
            (.ledgerChanged, "state.ledger_changed", true),
            (.replicaForked(ReplicaID(rawValue: 1)), "state.replica_forked", true),
            (.tooLarge("vector"), "state.too_large", false), (.invalid("key"), "state.invalid", false),
            (.failed("x"), "state.failed", false),
        ]
    }

    @Test func `every error has its code and one sentence`() throws {
        let all = try Self.all()
        for (error, code, isTransient) in all {
            #expect(error.code == code)
            #expect(error.isTransient == isTransient)
            #expect(error.description.hasSuffix("."))
            #expect(error.description.first?.isUppercase == true)
            #expect(!error.description.contains("\n"))
        }
        #expect(Set(all.map(\.1)).count == all.count)
    }
}

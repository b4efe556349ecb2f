// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import JSONBytes
import SQLiteState
import StateStore
import SyncModel
import Testing

/// What `rind why` and `rind replicas` say of refused pushes.
@Suite struct RefusalReportTests {
    private static let phone = "0123456789abcdef"

    private static func with(_ body: (StateFixture) async throws -> Void) async throws {
        try await StateFixture.with { state in
            let operation = RefusedOperation(
                key: PushedRecordKey(table: "tasks", id: "t-2"), kind: .update, call: "PATCH /tasks/{id}",
                reason: QuarantinedOperation.Reason(
                    code: "push.rejected", status: 422, message: "status 422: the project is closed"))
            for time: Instant in [1_800_000_300_000, 1_800_000_400_000] {
                try await state.store.change(StateFixture.alice) {
                    try RefusalRules.note(
                        [operation], replica: StateFixture.phone, result: "push refused: 1 operation, push.rejected",
                        at: time, in: &$0)
                }
            }
            try await body(state)
        }
    }

    @Test func `why says that a push of the record was refused, by which call and what the backend said`()
        async throws
    {
        try await Self.with { state in
            let json = try await state.json("why", "--replica", Self.phone, "--table", "tasks", "--id", "t-2")
            #expect(
                json["sentences"]?.array?.last?.string
                    == "A pushed update of it was refused 2 times, last at 2027-01-15T08:06:40Z: push.rejected, "
                    + "PATCH /tasks/{id}, status 422: the project is closed.")
            #expect(json["refusal"]?["call"]?.string == "PATCH /tasks/{id}")
            #expect(json["refusal"]?["message"]?.string == "status 422: the project is closed")
            let other = try await state.json("why", "--replica", Self.phone, "--table", "tasks", "--id", "t-1")
            #expect(other["refusal"]?.isNull == true)
        }
    }

    @Test func `replicas show ends with what was refused, and the last result says it`() async throws {
        try await Self.with { state in
            let text = try await state.run("replicas", "show", Self.phone)
            #expect(text.out.contains("push refused: 1 operation, push.rejected"))
            #expect(
                text.out.hasSuffix(
                    """
                    REFUSED PUSHES OF THE PRINCIPAL, THE NEWEST FIRST
                    2027-01-15T08:06:40Z  update tasks t-2, 2 times: push.rejected, PATCH /tasks/{id}, status 422: the \
                    project is closed

                    """))
            let json = try await state.json("replicas", "show", Self.phone)
            #expect(json["refusals"]?[0]?["status"]?.int64 == 422)
        }
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import Deduplication
import Gateway
import StateStore
import SyncMachines
import Testing

@Suite struct GatewayErrorTests {
    /// What a client hears of one error.
    struct Case: Sendable, CustomTestStringConvertible {
        let error: any Error
        let status: Int
        let code: String
        var retryAfter: Int?
        var testDescription: String { "\(code) \(status)" }
    }

    static let cases: [Case] = [
        Case(error: PullFailure.unknownCursor, status: 409, code: "pull.unknown_cursor"),
        Case(error: PullFailure.streamBroken, status: 502, code: "backend.stream_broken", retryAfter: 5),
        Case(error: PullFailure.clockBehind, status: 503, code: "pull.clock_behind", retryAfter: 5),
        Case(error: PushFailure.unknownOutcome, status: 502, code: "push.unknown_outcome", retryAfter: 2),
        Case(error: BackendError.credentialRefused(status: 401), status: 401, code: "backend.credential"),
        Case(error: BackendError.credentialRefused(status: 403), status: 403, code: "backend.credential"),
        Case(
            error: BackendError.busy(status: 429, retryAfter: .seconds(17)), status: 429, code: "backend.busy",
            retryAfter: 17),
        Case(error: BackendError.busy(status: 503, retryAfter: nil), status: 503, code: "backend.busy", retryAfter: 5),
        Case(
            error: BackendError.transport(.timeout(.idle)), status: 504, code: "backend.timeout.idle", retryAfter: 5),
        Case(
            error: BackendError.transport(.connect("x")), status: 502, code: "backend.connect", retryAfter: 5),
        Case(error: BackendError.refused(status: 400), status: 502, code: "backend.refused"),
        Case(error: StateError.closed, status: 500, code: "state.closed"),
        Case(error: StateError.busy, status: 503, code: "state.busy", retryAfter: 5),
        Case(error: StateError.slow, status: 503, code: "state.slow", retryAfter: 5),
        Case(error: StateError.replaced(path: "/s"), status: 503, code: "state.replaced"),
        Case(error: StateError.readOnly("x"), status: 503, code: "state.read_only"),
        Case(error: StateError.corrupt("x"), status: 500, code: "state.corrupt"),
        Case(error: StateError.ledgerChanged, status: 503, code: "state.ledger_changed", retryAfter: 1),
        Case(error: SpoolError.diskFull, status: 503, code: "spool.disk_full", retryAfter: 30),
        Case(error: SpoolError.tooLarge, status: 500, code: "spool.too_large"),
        Case(error: LockError.queueFull, status: 429, code: "limit.queue", retryAfter: 5),
        Case(error: LockError.timedOut, status: 503, code: "limit.queue_wait", retryAfter: 10),
        Case(error: StreamIntake.Failure.tooManyRows, status: 500, code: "pull.too_many_rows"),
        Case(error: StreamIntake.Failure.tooManyLines, status: 502, code: "pull.too_many_lines"),
        Case(error: PullFailure.unexpectedEvent, status: 500, code: "internal.unexpected_event", retryAfter: 5),
        Case(error: CancellationError(), status: 503, code: "request.cancelled", retryAfter: 2),
    ]

    @Test(arguments: GatewayFault.allCases) func `every fault of the gateway has a sentence`(fault: GatewayFault) {
        let error = GatewayError(fault: fault)
        #expect(error.code == fault.rawValue)
        #expect((400...505).contains(error.status))
        #expect((error.retryAfter == nil) == ![429, 503].contains(error.status) || fault == .draining)
        #expect(error.message.hasSuffix(".") && error.message.count < 100)
    }

    @Test(arguments: cases) func `every error has its status, code and pause`(_ test: Case) {
        let error = GatewayError(test.error)
        #expect(error.status == test.status)
        #expect(error.code == test.code)
        #expect(error.retryAfter == test.retryAfter)
        #expect(error.message.hasSuffix(".") && error.message.count < 100)
        #expect(!error.message.contains("secret"))
    }
}

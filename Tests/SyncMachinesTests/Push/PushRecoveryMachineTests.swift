// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

/// How a journal is closed whose push was cut off (findings 19 and 20).
@Suite struct PushRecoveryMachineTests {
    private typealias Machine = PushRecoveryMachine

    private enum Kind {
        case keyed, searched, both, neither
    }

    /// Creations in flight, of tables and with ids after their indices.
    private static func creations(_ kinds: [Kind]) -> [Machine.Creation] {
        kinds.enumerated().map { index, kind in
            Machine.Creation(
                index: index, table: "t\(index)", id: "x\(index)", hasRequest: kind == .keyed || kind == .both,
                canSearch: kind == .searched || kind == .both)
        }
    }

    private static func closing(_ kinds: Kind..., from cursor: Int64? = nil) -> Machine {
        Machine(Machine.Query(creations(kinds), interrupted: cursor.flatMap { Cursor(rawValue: $0) }))
    }

    private static func created(_ id: String) -> PushRecoveryEvent {
        .answered(.meant(.ok, id: id, status: 201, isConfigured: false))
    }

    private static func found(_ ids: [Int: String]) -> PushRecoveryEvent { .found(ids, refused: []) }

    /// Enough attempts, over enough time.
    private static let enough = PushRecoveryEvent.tried(Machine.tries, over: Machine.patience)

    @Test func `without creations in flight a journal is closed at once`() {
        var closing = Self.closing()
        #expect(closing.begin() == .close(found: [:], lost: []))
    }

    @Test func `requests with a key are repeated one by one, then the rest is looked for together`() {
        var closing = Self.closing(.searched, .keyed, .neither, .both, .searched, .keyed)
        #expect(closing.begin() == .repeatRequest(1))
        #expect(closing.handle(Self.created("17")) == .repeatRequest(3))
        #expect(closing.handle(.answered(.refused(status: 400))) == .repeatRequest(5))
        #expect(closing.handle(.answered(.other)) == .search([0, 4], fromCursor: false))
        // What the backend refuses has not happened; what nobody can say is lost.
        #expect(closing.handle(Self.found([4: "18"])) == .close(found: [1: "17", 4: "18"], lost: [0, 2, 5]))
    }

    @Test func `what a repetition does not tell is looked for where the stream may tell it`() {
        var closing = Self.closing(.both, .keyed)
        #expect(closing.begin() == .repeatRequest(0))
        #expect(closing.handle(.answered(.other)) == .repeatRequest(1))
        #expect(closing.handle(.answered(.other)) == .search([0], fromCursor: false))
        #expect(closing.handle(Self.found([0: "17"])) == .close(found: [0: "17"], lost: [1]))
    }

    @Test func `an event that no action has asked for ends nothing but the recovery`() {
        for event in [
            PushRecoveryEvent.done, .backendAnswers(true), Self.enough, .givenUpBefore, .outOfReach, Self.found([:]),
        ] {
            var closing = Self.closing(.both, .both)
            _ = closing.begin()
            #expect(closing.handle(Self.created("17")) == .repeatRequest(1))
            guard case .fail(.unexpected(let unexpected)) = closing.handle(event) else {
                Issue.record("\(event) was taken")
                continue
            }
            #expect(unexpected.state == "repeating" && "\(event)".hasPrefix(unexpected.event))
            // What was found is kept, and nothing more is taken.
            #expect(closing.found == [0: "17"])
            guard case .fail = closing.handle(Self.created("18")) else {
                Issue.record("it was closed already")
                continue
            }
            #expect(closing.found == [0: "17"])
        }
    }

    @Test func `of indices that were not asked for nothing is believed`() {
        var closing = Self.closing(.searched)
        #expect(closing.begin() == .search([0], fromCursor: false))
        #expect(
            closing.handle(.found([0: "1", 5: "2"], refused: [0, 7])) == .close(found: [0: "1"], lost: []))
    }
}

/// What an answer to a repeated request tells.
@Suite struct RepeatedRequestAnswerTests {
    private typealias Machine = PushRecoveryMachine

    @Test(
        arguments: [
            (.meant(.ok, id: "17", status: 201, isConfigured: false), .close(found: [0: "17"], lost: [])),
            (.meant(.exists, id: "17", status: 409, isConfigured: true), .close(found: [0: "17"], lost: [])),
            // An answer without an id that can be kept does not tell which record it is.
            (.meant(.ok, id: nil, status: 204, isConfigured: false), .search([0], fromCursor: true)),
            (.meant(.ok, id: "", status: 201, isConfigured: false), .search([0], fromCursor: true)),
            (
                .meant(.ok, id: String(repeating: "x", count: 10_000), status: 201, isConfigured: false),
                .search([0], fromCursor: true)
            ),
            // What is refused now was refused before.
            (.meant(.rejected, id: nil, status: 418, isConfigured: true), .close(found: [:], lost: [])),
            (.refused(status: 400), .close(found: [:], lost: [])),
            (.refused(status: 422), .close(found: [:], lost: [])),
            // The first request is still running, unless the configuration says what a 409 means.
            (.meant(.conflict, id: nil, status: 409, isConfigured: false), .askBackend),
            (.meant(.conflict, id: nil, status: 409, isConfigured: true), .search([0], fromCursor: true)),
            (.meant(.conflict, id: nil, status: 412, isConfigured: false), .search([0], fromCursor: true)),
            // The request has not been looked at, or may not have arrived.
            (.refused(status: 401), .askBackend), (.refused(status: 408), .askBackend),
            (.refused(status: 425), .askBackend), (.failed, .askBackend),
            // A caller or an address that is no longer known tells nothing, now or later.
            (.refused(status: 403), .search([0], fromCursor: true)),
            (.refused(status: 404), .search([0], fromCursor: true)),
            (.meant(.missing, id: nil, status: 404, isConfigured: true), .search([0], fromCursor: true)),
            (.other, .search([0], fromCursor: true)),
            // What the gateway itself could not do is no sign of the backend, and nothing is given up for it.
            (.failedHere, .fail(.failedHere)),
        ] as [(PushRecoveryAnswer, PushRecoveryAction)])
    func `an answer tells the id, or that there is none, or nothing, or to come again later`(
        _ row: (answer: PushRecoveryAnswer, action: PushRecoveryAction)
    ) {
        let creation = Machine.Creation(index: 0, table: "t", id: "x", hasRequest: true, canSearch: true)
        var closing = Machine(Machine.Query([creation], interrupted: Cursor(rawValue: 7)))
        #expect(closing.begin() == .repeatRequest(0))
        #expect(closing.handle(.answered(row.answer)) == row.action)
    }
}

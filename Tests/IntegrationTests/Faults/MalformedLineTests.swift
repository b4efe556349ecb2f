// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// One bad line stops no other row: it is kept for the operator, and the stream goes on.
@Suite(.timeLimit(.minutes(5))) struct MalformedLineTests {
    /// What is wrong with the line of one task, and what becomes of it.
    struct Damage: Sendable, CustomTestStringConvertible {
        let malformation: DemoFault.Malformation
        /// Why it is quarantined; nil where it is not.
        var reason: QuarantinedLine.Reason?
        /// Whether the task does not come.
        var isLost = false
        /// Whether an operator can see whose line it was.
        var hasTable = true
        /// Whether the line's token is none that the backend takes, so that the next pull starts over.
        var startsOver = false
        /// Whether the client gets the task with its defaults.
        var isRepaired = false

        var testDescription: String { "\(malformation)" }

        /// What the log says, with where it was.
        var line: [String: String]? {
            switch malformation {
            case .wrongTypes, .blankBefore, .duplicate: nil
            case .noAck: ["code": "line.no_token", "first": "5 (TaskV2)"]
            case .numberAck: ["code": "line.number_token", "first": "5 (TaskV2)"]
            case .unknownTypeBefore: ["code": "line.unknown_type", "first": "5 (MysteryV9)"]
            case .garbageBefore, .arrayBefore, .overlong: ["code": reason?.rawValue ?? "", "first": "5"]
            default: ["code": reason?.rawValue ?? "", "first": "5 (TaskV2)"]
            }
        }

        static let all = [
            Damage(malformation: .invalidJSON, reason: .invalidJSON, isLost: true),
            Damage(malformation: .invalidUTF8, reason: .invalidUTF8, isLost: true),
            Damage(malformation: .noID, reason: .noID, isLost: true),
            Damage(malformation: .notAnObject, reason: .notARecord, isLost: true),
            Damage(malformation: .overlong(100_000), reason: .tooLong, isLost: true, hasTable: false),
            Damage(malformation: .garbageBefore, reason: .invalidJSON, hasTable: false),
            Damage(malformation: .wrongTypes, isLost: true, isRepaired: true),
            Damage(malformation: .unknownTypeBefore, startsOver: true),
            Damage(malformation: .blankBefore), Damage(malformation: .duplicate), Damage(malformation: .noAck),
            Damage(malformation: .numberAck), Damage(malformation: .arrayBefore, reason: .notAnObject, hasTable: false),
        ]
    }

    @Test(arguments: Damage.all)
    func `a bad line is quarantined and the stream goes on`(_ damage: Damage) async throws {
        let options = StackOptions(["pull.max_line": "64KiB", "pull.repeat_window": "0s"])
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 6)
            let whole = try PulledChanges(await stack.sendPull())
            // Two projects come first, then t-0, t-1 and so on.
            stack.backend.inject(.stream { $0.malformed[4] = damage.malformation })
            let pulled = try PulledChanges(await stack.sendPull())

            let told = stack.log.lines(containing: "lines of the backend's stream are not as agreed on")
            #expect(told.count == (damage.line == nil ? 0 : 1))
            for (name, value) in damage.line ?? [:] { #expect(told.first?.metadata[name] == value, "\(name)") }

            var expected = whole.created
            if damage.isLost { expected["tasks"]?["t-2"] = nil }
            var got = pulled.created
            if damage.isRepaired {
                // The id became a number too, which is as good as its text.
                let repaired = got["tasks"]?.removeValue(forKey: "12")
                #expect(repaired?["is_done"] == false)
                #expect(repaired?["position"] == 0)
                #expect(repaired?["name"] == "12")
            }
            #expect(got == expected && pulled.repeated.isEmpty)

            let entries = try await stack.store.inspection.quarantined(limit: 10)
            #expect(
                entries.map(\.line.reason)
                    == (damage.reason.map { [$0] } ?? (damage.isRepaired ? [.unreadableValue] : [])))
            if let entry = entries.first { #expect(entry.line.table == (damage.hasTable ? "tasks" : nil)) }

            // What came behind it is confirmed; the record itself comes with its next change.
            let next = try PulledChanges(await stack.sendPull(pulled.cursor))
            // A stream that had to start over brings nothing either that the device has already.
            #expect(next.count == 0)
            try await stack.backend.edit(.put("tasks", ["id": "t-2", "name": "whole again"]))
            let later = try PulledChanges(await stack.sendPull(next.cursor))
            let changed = damage.isLost ? later.created : later.updated
            #expect(changed["tasks"]?.keys.sorted() == ["t-2"])
        }
    }

    @Test func `a line that is bad on every pull is counted and kept once`() async throws {
        try await GatewayStack.with(StackOptions(["pull.quarantine_keep": "whole"])) { stack in
            try await stack.seed(tasks: 6)
            for _ in 0..<3 {
                stack.backend.inject(.stream { $0.malformed[4] = .noID })
                _ = try PulledChanges(await stack.sendPull())
            }
            let entries = try await stack.store.inspection.quarantined(limit: 10)
            #expect(entries.map(\.count) == [3])
            #expect(String(decoding: entries[0].line.bytes, as: UTF8.self).contains(#""type":"TaskV2""#))
        }
    }

    @Test func `a stream of nothing but bad lines is an answer without records`() async throws {
        try await GatewayStack.with(StackOptions(["pull.repeat_window": "0s"])) { stack in
            try await stack.seed(tasks: 6)
            stack.backend.inject(
                .stream { stream in for line in 0..<60 { stream.malformed[line] = .garbageBefore } })
            #expect(try PulledChanges(await stack.sendPull()).count > 0)
            stack.backend.inject(.stream { stream in for line in 0..<12 { stream.malformed[line] = .invalidJSON } })
            let pulled = try PulledChanges(await stack.sendPull())
            #expect(pulled.created["tasks"] == nil && pulled.created["projects"] == nil)
            #expect(try await stack.store.inspection.quarantineCounts().entries > 0)
        }
    }
}

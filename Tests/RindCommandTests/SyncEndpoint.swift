// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONBytes
import NIOConcurrencyHelpers

@testable import rind

/// A sync server in memory that keeps WatermelonDB's rules, but for one that it can be told to break.
final class SyncEndpoint: Sendable {
    private struct Record {
        var members: [JSONValue.Member]
        let created: Int64
        var changed: Int64
        var isDeleted = false

        var value: JSONValue { .object(members) }
    }

    private struct State {
        var now: Int64 = 1_700_000_000_000
        var records: [String: Record] = [:]
        var served: Set<Int64> = []
    }

    private let broken: ConformRule?
    private let state: NIOLockedValueBox<State>

    init(broken: ConformRule? = nil) {
        self.broken = broken
        var state = State()
        for id in ["p1", "p2", "p3"] {
            let members: [JSONValue.Member] = [.init("id", .string(id)), .init("name", .string("old"))]
            state.records[id] = Record(members: members, created: 1, changed: 1)
        }
        self.state = NIOLockedValueBox(state)
    }

    /// The ids of the records that are there.
    var ids: [String] { state.withLockedValue { $0.records.filter { !$0.value.isDeleted }.keys.sorted() } }

    func answer(_ request: ScriptedServer.Request, _ head: String, _ body: String) -> ScriptedServer.Answer {
        let arguments = URLComponents(string: request.path)?.queryItems ?? []
        func argument(_ name: String) -> String? { arguments.first { $0.name == name }?.value }
        let since = argument("last_pulled_at").flatMap { Int64($0) }
        return state.withLockedValue { state in
            state.now += 10
            guard request.method == "POST" else {
                let migration = argument("migration").flatMap { try? JSONValue.parse($0) }
                let isMigrated = broken != .pullMigration && !(migration?["tables"]?.array ?? []).isEmpty
                return pull(&state, since: since, everything: isMigrated)
            }
            guard broken != .pushText || !head.lowercased().contains("content-type: text/plain") else {
                return .status("415 Unsupported Media Type")
            }
            return push(&state, since: since ?? 0, (try? JSONValue.parse(body)) ?? .null)
        }
    }

    private func pull(_ state: inout State, since: Int64?, everything: Bool) -> ScriptedServer.Answer {
        guard broken != .pullAnswer else { return .page() }
        var (created, updated, deleted): ([JSONValue], [JSONValue], [JSONValue]) = ([], [], [])
        let isFirstTime = since.map { state.served.insert($0).inserted } ?? true
        for (id, record) in state.records.sorted(by: { $0.key < $1.key }) {
            guard let since else {
                if !record.isDeleted || broken == .pullGone { created.append(record.value) }
                continue
            }
            let isDue = record.changed > since && (broken != .pullRepeated || isFirstTime)
            guard isDue || everything || (broken == .pullIncremental && !record.isDeleted) else { continue }
            let isNew = record.created > since
            if record.isDeleted {
                deleted.append(.string(id))
            } else if isNew ? broken == .pushEcho : broken == .pullUpdated {
                created.append(record.value)
            } else {
                updated.append(record.value)
            }
        }
        let brings = created.count + updated.count + deleted.count
        let lists = [created, updated, deleted].map { String(decoding: JSONValue.array($0).serialised, as: UTF8.self) }
        let table = #"{"created":\#(lists[0]),"updated":\#(lists[1]),"deleted":\#(lists[2])}"#
        var time = String(state.now)
        if broken == .pullTimestamp { time = "\"\(time)\"" }
        if broken == .pullForward, let since, brings == 0 { time = String(since - 1) }
        return .json(#"{"changes":{"projects":\#(table)\#(oddTable)},"timestamp":\#(time)}"#)
    }

    /// A table that breaks a rule of answers.
    private var oddTable: String {
        func table(_ created: String, deleted: String = "") -> String {
            #","odd":{"created":[\#(created)],"updated":[],"deleted":[\#(deleted)]}"#
        }
        return switch broken {
        case .pullChanges: #","odd":null"#
        case .pullLists: #","odd":{"created":[],"updated":[]}"#
        case .pullMembers: #","odd":{"created":[],"updated":[],"deleted":[],"count":0}"#
        case .pullIDs: table(#"{"id":1}"#)
        case .pullSafeIDs: table(#"{"id":"a/b"}"#)
        case .pullOnce: table(#"{"id":"a"},{"id":"a"}"#)
        case .pullMarks: table(#"{"id":"a","_status":"synced"}"#)
        case .pullValues: table(#"{"id":"a","tags":[]}"#)
        case .pullKinds: table(#"{"id":"a","at":1},{"id":"b","at":"2026-01-01"}"#)
        case .pullFirstDeletions: table("", deleted: #""a""#)
        default: ""
        }
    }

    private func push(_ state: inout State, since: Int64, _ changes: JSONValue) -> ScriptedServer.Answer {
        let lists = changes["projects"]
        let written = (lists?["created"]?.array ?? []) + (lists?["updated"]?.array ?? [])
        let hasConflict = written.compactMap { $0["id"]?.string }.contains { (state.records[$0]?.changed ?? 0) > since }
        let isRefused = hasConflict && broken != .pushConflict
        guard !isRefused || broken == .pushAtomic else { return .status("409 Conflict") }
        for record in lists?["created"]?.array ?? [] where broken != .pushCreate {
            let exists = record["id"]?.string.map { state.records[$0] != nil } ?? false
            if broken == .pushCreateAgain, exists { return .status("500 Internal Server Error") }
            if !isRefused || !exists { write(record, &state) }
        }
        for record in lists?["updated"]?.array ?? [] where !isRefused {
            let exists = record["id"]?.string.map { state.records[$0] != nil } ?? false
            guard broken != (exists ? .pushUpdate : .pushUpdateMissing) else { continue }
            write(record, &state)
        }
        for id in (lists?["deleted"]?.array ?? []).compactMap(\.string) where broken != .pushDelete {
            guard let record = state.records[id] else {
                if broken == .pushDeleteMissing { return .status("404 Not Found") }
                continue
            }
            if broken == .pushDeleteAgain, record.isDeleted { return .status("410 Gone") }
            state.records[id]?.isDeleted = true
            state.records[id]?.changed = state.now
        }
        return isRefused ? .status("409 Conflict") : .json("{}")
    }

    private func write(_ record: JSONValue, _ state: inout State) {
        guard let id = record["id"]?.string else { return }
        let members = (record.members ?? []).filter { !$0.name.hasPrefix("_") }
        let created = state.records[id]?.created ?? state.now
        state.records[id] = Record(members: members, created: created, changed: state.now)
    }
}

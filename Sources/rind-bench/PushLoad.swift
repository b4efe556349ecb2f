// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1

/// The content of pushes: tasks of one project, in rounds of equal size, the same for every run.
///
/// The first round creates all of its records. In every later round, of ten records six are created, and three are
/// changed and one deleted of those that the round before has created. A record has about 400 bytes as its client sends
/// it.
struct PushLoad {
    /// The changes that a round makes to records.
    enum Kind: String {
        case create, update, delete
    }

    /// One record of a round.
    struct Record {
        let kind: Kind
        let id: String
        fileprivate let number: Int
        fileprivate let round: Int
    }

    /// The name of the client that pushes: two loads of different names have no record in common.
    let name: String
    /// The number of records in a round.
    let size: Int

    /// The project of all tasks.
    var project: String { "project-\(name)" }

    /// Returns the records of a round, in the order in which they can be applied.
    func records(_ round: Int) -> [Record] {
        guard round > 0 else { return (0..<size).map { record(.create, $0, of: 0, in: 0) } }
        let (created, changed) = (size * 6 / 10, size * 3 / 10)
        return (0..<created).map { record(.create, $0, of: round, in: round) }
            + (0..<changed).map { record(.update, $0, of: round - 1, in: round) }
            + (created..<size - changed).map { record(.delete, $0 - changed, of: round - 1, in: round) }
    }

    /// Returns the number of tasks that exist after a number of rounds.
    func held(after rounds: Int) -> Int {
        rounds == 0 ? 0 : size + (rounds - 1) * (size * 6 / 10 - deletions)
    }

    private var deletions: Int { size - size * 6 / 10 - size * 3 / 10 }

    private func record(_ kind: Kind, _ number: Int, of birth: Int, in round: Int) -> Record {
        Record(kind: kind, id: "\(name)-\(birth)-\(number)", number: number, round: round)
    }

    // Both forms are written by hand: making them must cost the same, and nothing while a measurement runs.

    /// Returns the body that the client sends.
    func clientBody(_ round: Int) -> [UInt8] {
        var lists: [Kind: [String]] = [:]
        for record in records(round) { lists[record.kind, default: []].append(clientText(record)) }
        func list(_ kind: Kind) -> String { "[" + (lists[kind] ?? []).joined(separator: ",") + "]" }
        let project = #"{"id":"\#(project)","_status":"created","_changed":"","name":"Bench","is_archived":false}"#
        let projects = #"{"created":[\#(round == 0 ? project : "")],"updated":[],"deleted":[]}"#
        let tasks = #"{"created":\#(list(.create)),"updated":\#(list(.update)),"deleted":\#(list(.delete))}"#
        return Array(#"{"changes":{"projects":\#(projects),"tasks":\#(tasks)}}"#.utf8)
    }

    private func clientText(_ record: Record) -> String {
        if record.kind == .delete { return #""\#(record.id)""# }
        let changed = record.kind == .update ? "name,position,is_done" : ""
        let (name, note, time) = values(record)
        return #"{"id":"\#(record.id)","_status":"\#(record.kind.rawValue)d","_changed":"\#(changed)","#
            + #""name":"\#(name)","position":\#(record.number),"is_done":\#(record.round % 2 == 1),"#
            + #""project_id":"\#(project)","note":"\#(note)","created_at":\#(time),"updated_at":\#(time),"due_at":null}"#
    }

    /// Returns the lines of the stream push that the gateway makes of the round.
    func streamBody(_ round: Int, base: String?) -> [UInt8] {
        let end = base.map { #","base":"\#($0)"}"# } ?? "}"
        var lines = ""
        if round == 0 {
            lines +=
                #"{"op":"create","table":"projects","id":"\#(project)","key":{"id":"\#(project)"},"#
                + #""data":{"name":"Bench","isArchived":false}}"# + "\n"
        }
        for record in records(round) {
            let data = record.kind == .delete ? "" : #","data":{\#(members(record))}"#
            lines +=
                #"{"op":"\#(record.kind.rawValue)","table":"tasks","id":"\#(record.id)","#
                + #""key":{"id":"\#(record.id)"}\#(data)"# + end + "\n"
        }
        return Array(lines.utf8)
    }

    /// Returns the calls that the gateway makes of the round.
    func calls(_ round: Int) -> [PushClient.Request] {
        var calls: [PushClient.Request] = []
        if round == 0 {
            let body = #"{"id":"\#(project)","name":"Bench","isArchived":false,"color":null}"#
            calls.append(PushClient.Request(method: .POST, path: "/projects", body: Array(body.utf8)))
        }
        for record in records(round) {
            switch record.kind {
            case .create:
                let body = #"{"id":"\#(record.id)",\#(members(record))}"#
                calls.append(PushClient.Request(method: .POST, path: "/tasks", body: Array(body.utf8)))
            case .update:
                let body = "{\(members(record))}"
                calls.append(PushClient.Request(method: .PATCH, path: "/tasks/\(record.id)", body: Array(body.utf8)))
            case .delete: calls.append(PushClient.Request(method: .DELETE, path: "/tasks/\(record.id)"))
            }
        }
        return calls
    }

    private func members(_ record: Record) -> String {
        let (name, note, _) = values(record)
        let time = Self.date(record)
        return #""name":"\#(name)","position":\#(record.number),"isDone":\#(record.round % 2 == 1),"#
            + #""projectId":"\#(project)","note":"\#(note)","createdAt":"\#(time)","updatedAt":"\#(time)","dueAt":null"#
    }

    private func values(_ record: Record) -> (name: String, note: String, time: Int) {
        let name = "Task \(record.number) – \(record.kind.rawValue)d in round \(record.round)"
        return (name, Self.note, 1_767_225_600_000 + record.number % 3_600_000)
    }

    /// Returns the record's time in the backend's form: 2026-01-01, and a number of milliseconds.
    private static func date(_ record: Record) -> String {
        func padded(_ number: Int, _ digits: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: digits - text.count) + text
        }
        let time = record.number % 3_600_000
        return "2026-01-01T00:\(padded(time / 60_000, 2)):\(padded(time / 1_000 % 60, 2)).\(padded(time % 1_000, 3))Z"
    }

    private static let note =
        "Remember to ask about the \\\"green\\\" one. " + String(repeating: "Lorem ipsum. ", count: 8)
}

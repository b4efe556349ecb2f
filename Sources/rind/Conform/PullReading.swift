// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// The answer to a pull, held to the rules that concern one answer alone.
struct PullReading {
    /// The ids in the lists of a table.
    struct Table {
        var created: Set<String> = []
        var updated: Set<String> = []
        var deleted: Set<String> = []
        /// The number of elements of `deleted`, whatever they are.
        var deletions = 0
        /// One of its records, as an example.
        var example: JSONValue?

        /// Returns whether a record with this id came.
        func brings(_ id: String) -> Bool { created.contains(id) || updated.contains(id) }

        /// Returns whether the id is in one of the lists.
        func names(_ id: String) -> Bool { brings(id) || deleted.contains(id) }

        /// The ids of all records that came.
        var records: Set<String> { created.union(updated) }
    }

    /// An answer that is no JSON object.
    struct Unreadable: Error {
        let reason: String
    }

    private(set) var tables: [String: Table] = [:]
    /// The names of the tables in the order of the answer.
    private(set) var names: [String] = []
    private(set) var timestamp: Int64?
    /// The records of one table that are looked at in detail.
    private(set) var watched: [String: JSONValue] = [:]
    /// The first problem for each rule.
    private(set) var problems: [ConformRule: String] = [:]
    private var kinds: [String: JSONKind] = [:]

    /// Reads an answer, and keeps some of its records.
    ///
    /// - Throws: ``Unreadable`` if it is no JSON object.
    init(_ bytes: [UInt8], watching ids: Set<String> = []) throws(Unreadable) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(Unreadable) in
            let document: JSONSlice
            do throws(JSONError) { document = try JSONScanner.document(UnsafeRawBufferPointer(bytes)) } catch {
                throw Unreadable(reason: "The answer is not JSON: \(error).")
            }
            guard document.kind == .object else { throw Unreadable(reason: "The answer is no object.") }
            read(PulledChanges.unwrapped(document) ?? document, watching: ids)
        }
    }

    /// Returns the table, empty if the answer has none of this name.
    subscript(name: String) -> Table { tables[name] ?? Table() }

    private mutating func report(_ rule: ConformRule, _ problem: @autoclosure () -> String) {
        if problems[rule] == nil { problems[rule] = problem() }
    }

    private mutating func read(_ answer: JSONSlice, watching ids: Set<String>) {
        let time = answer.member("timestamp")
        if let value = time?.double, value == value.rounded(), (1...9_007_199_254_740_991).contains(value) {
            timestamp = Int64(value)
        } else {
            let value = time.map { $0.spelling.shown(upTo: 60) } ?? "missing"
            report(.pullTimestamp, "'timestamp' is \(value).")
        }
        guard let changes = answer.member("changes"), changes.kind == .object else {
            return report(.pullChanges, "'changes' is missing or no object.")
        }
        changes.forEachMember { name, value in
            let name = name.string ?? "?"
            guard value.kind == .object else { return report(.pullChanges, "\(name.shown(upTo: 60)) is no object.") }
            if tables[name] == nil { names.append(name) }
            read(value, name, watching: ids)
        }
    }

    private mutating func read(_ lists: JSONSlice, _ name: String, watching ids: Set<String>) {
        var table = Table()
        let shown = name.shown(upTo: 60)
        lists.forEachMember { list, value in
            switch list.string {
            case "created": table.created = records(of: value, "\(shown).created", &table.example, watching: ids)
            case "updated": table.updated = records(of: value, "\(shown).updated", &table.example, watching: ids)
            case "deleted":
                table.deleted = deletions(of: value, "\(shown).deleted")
                value.forEachElement { _ in table.deletions += 1 }
            default: report(.pullMembers, "\(shown) has a member '\((list.string ?? "?").shown(upTo: 60))'.")
            }
        }
        for list in ["created", "updated", "deleted"] where lists.member(list)?.kind != .array {
            report(.pullLists, "\(shown) has no list '\(list)'.")
        }
        let twice = [
            table.created.intersection(table.updated), table.created.intersection(table.deleted),
            table.updated.intersection(table.deleted),
        ].compactMap(\.first).first
        if let twice { report(.pullOnce, "\(shown) has \(twice.shown(upTo: 80)) in two lists.") }
        tables[name] = table
    }

    private mutating func records(
        of list: JSONSlice, _ path: String, _ example: inout JSONValue?, watching ids: Set<String>
    ) -> Set<String> {
        var found: Set<String> = []
        list.forEachElement { slice in
            guard slice.kind == .object,
                let record = try? JSONValue.parse(slice.bytes, limits: .init(bytes: .max, elements: .max))
            else { return report(.pullIDs, "\(path) has an element that is no object.") }
            check(record, path)
            guard let id = note(record["id"], at: path, in: &found) else { return }
            if ids.contains(id) { watched[id] = record }
            if example == nil { example = record }
        }
        return found
    }

    private mutating func deletions(of list: JSONSlice, _ path: String) -> Set<String> {
        var found: Set<String> = []
        list.forEachElement { slice in _ = note(slice.string.map { .string($0) }, at: path, in: &found) }
        return found
    }

    /// Returns the id, if it is one.
    private mutating func note(_ id: JSONValue?, at path: String, in found: inout Set<String>) -> String? {
        guard let id = id?.string, !id.isEmpty else {
            report(.pullIDs, "\(path) has an id that is no text.")
            return nil
        }
        let isSafe = id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        if !isSafe { report(.pullSafeIDs, "\(path) has the id '\(id.shown(upTo: 80))'.") }
        if !found.insert(id).inserted { report(.pullOnce, "\(path) has \(id.shown(upTo: 80)) twice.") }
        return id
    }

    private mutating func check(_ record: JSONValue, _ path: String) {
        let table = path.prefix { $0 != "." }
        for member in record.members ?? [] where member.name != "id" {
            let column = "\(table).\(member.name.shown(upTo: 60))"
            if member.name == "_status" || member.name == "_changed" {
                report(.pullMarks, "\(path) has a record with '\(member.name)'.")
            }
            switch member.value {
            case .null: continue
            case .object, .array: report(.pullValues, "\(column) is an object or a list.")
            case .number(let number) where number.double == nil: report(.pullValues, "\(column) is not finite.")
            case .number, .bool, .string: break
            }
            let kind = member.value.kind
            if let other = kinds[column], other != kind {
                report(.pullKinds, "\(column) has values of the kinds \(other) and \(kind).")
            }
            kinds[column] = kind
        }
    }
}

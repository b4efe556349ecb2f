// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// The answer to a pull, counted: held to what WatermelonDB asks of it.
struct PulledChanges {
    /// The lists of one table.
    struct Table: Equatable {
        var name: String
        var created = 0
        var updated = 0
        var deleted = 0
    }

    /// The reason why WatermelonDB would not take an answer.
    struct Problem: Error {
        let message: String
    }

    private(set) var tables: [Table] = []
    private(set) var timestamp: Int64 = 0
    /// `replacement`, where the client is to forget what it has.
    private(set) var strategy: String?

    /// Reads an answer as it is documented, or one that lies one member deeper, as in `{"data":{…}}`.
    init(_ bytes: [UInt8]) throws(Problem) {
        do throws(ReadingError) {
            try bytes.withUnsafeBufferPointer { (bytes) throws(ReadingError) in
                try read(UnsafeRawBufferPointer(bytes))
            }
        } catch {
            switch error {
            case .json(let error): throw Problem(message: "The answer is not JSON: \(error).")
            case .problem(let message): throw Problem(message: message)
            }
        }
    }

    private enum ReadingError: Error {
        case json(JSONError)
        case problem(String)
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) throws(ReadingError) {
        let document: JSONSlice
        do throws(JSONError) { document = try JSONScanner.document(bytes) } catch { throw .json(error) }
        guard document.kind == .object else { throw .problem("The answer is no object.") }
        guard let answer = Self.unwrapped(document), let changes = answer.member("changes") else {
            throw .problem("The answer has no 'changes'.")
        }
        guard changes.kind == .object else { throw .problem("'changes' is no object.") }
        guard let timestamp = answer.member("timestamp")?.double else {
            throw .problem("The answer has no number 'timestamp'.")
        }
        guard timestamp == timestamp.rounded(), timestamp >= 1, timestamp <= 9_007_199_254_740_991 else {
            throw .problem(
                "The timestamp \(timestamp) does not survive in a client: it must be a whole number above 0.")
        }
        self.timestamp = Int64(timestamp)
        strategy = answer.member("experimentalStrategy")?.string
        try changes.forEachMember { (name, value) throws(ReadingError) in
            let name = name.string ?? "?"
            tables.append(
                Table(
                    name: name, created: try Self.count("created", of: value, name: name),
                    updated: try Self.count("updated", of: value, name: name),
                    deleted: try Self.count("deleted", of: value, name: name)))
        }
    }

    /// Returns the object with the changes: the document, or a member of it.
    static func unwrapped(_ document: JSONSlice) -> JSONSlice? {
        if document.member("changes") != nil { return document }
        var found: JSONSlice?
        document.forEachMember { _, value in
            if value.kind == .object, value.member("changes") != nil { found = value }
        }
        return found
    }

    private static func count(_ list: String, of table: JSONSlice, name: String) throws(ReadingError) -> Int {
        guard table.kind == .object, let list = table.member(list), list.kind == .array else {
            throw .problem("The table '\(name.shown(upTo: 60))' has no list '\(list)'; WatermelonDB fails on that.")
        }
        var count = 0
        list.forEachElement { _ in count += 1 }
        return count
    }

    /// The counts as a table.
    var lines: [String] {
        let total = tables.reduce(into: Table(name: "total")) { total, table in
            total.created += table.created
            total.updated += table.updated
            total.deleted += table.deleted
        }
        let width = max(8, (tables + [total]).map(\.name.count).max() ?? 0)
        func row(_ name: String, _ cells: [String]) -> String {
            name.padded(to: width) + cells.map { $0.leftPadded(to: 10) }.joined()
        }
        func row(_ table: Table) -> String {
            row(table.name, [table.created, table.updated, table.deleted].map(String.init))
        }
        return [row("table", ["created", "updated", "deleted"])] + tables.map(row) + [row(total)]
    }

    /// The number of records and deletions that came.
    var count: Int { tables.reduce(0) { $0 + $1.created + $1.updated + $1.deleted } }
}

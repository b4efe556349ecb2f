// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// Reads the tables of a push and holds their form against the protocol's.
struct PushChangesReader {
    let limits: WireDialect.Limits

    private static let maximumNameLength = 255

    private var tables: [PushedTable] = []
    private var names: Set<ByteString> = []
    private var records = 0

    init(limits: WireDialect.Limits) { self.limits = limits }

    /// Reads an object whose members are tables, except members for which `isArgument` returns true.
    static func tables(
        of object: JSONSlice, in origin: DocumentOrigin, limits: WireDialect.Limits,
        isArgument: (JSONSlice, JSONSlice) -> Bool = { _, _ in false }
    ) throws(WireError) -> [PushedTable] {
        var reader = PushChangesReader(limits: limits)
        try object.forEachMember { (name, value) throws(WireError) in
            if isArgument(name, value) { return }
            try reader.read(table: name.string ?? "", set: value, in: origin)
        }
        return reader.tables
    }

    /// Reads one table's set.
    static func table(
        _ name: String, set: JSONSlice, in origin: DocumentOrigin, limits: WireDialect.Limits
    ) throws(WireError) -> [PushedTable] {
        var reader = PushChangesReader(limits: limits)
        try reader.read(table: name, set: set, in: origin)
        return reader.tables
    }

    private mutating func read(
        table name: String, set: JSONSlice, in origin: DocumentOrigin
    ) throws(WireError) {
        guard (1...Self.maximumNameLength).contains(name.utf8.count), name != "__proto__" else {
            throw .tableName(name)
        }
        guard set.kind == .object else { throw .setShape(name) }
        guard names.insert(ByteString(name)).inserted else { throw .tableTwice(name) }
        guard tables.count < limits.tables else { throw .tooManyTables(limit: limits.tables) }
        var table = PushedTable(name: name)
        var ids: Set<ByteString> = []
        var seen: Set<ChangeList> = []
        try set.forEachMember { (member, value) throws(WireError) in
            guard let list = ChangeList.named(member) else { return }
            guard seen.insert(list).inserted, value.kind == .array || value.isNull else { throw .setShape(name) }
            try value.forEachElement { (element) throws(WireError) in
                records += 1
                guard records <= limits.records else { throw .tooManyRecords(limit: limits.records) }
                // A deletion is an id, or, from clients made by hand, the record itself, of which the id counts.
                let isID = list == .deleted && element.kind == .string
                let idSlice = isID ? element : element.member("id")
                // Half a surrogate pair is no text: an answer or a call with the repaired id would name another record.
                guard let idSlice, let id = idSlice.string, !idSlice.isRepaired else {
                    throw list == .deleted ? .deletedID(name) : .recordID(name)
                }
                guard ids.insert(ByteString(id)).inserted else { throw .idTwice(name, id) }
                switch list {
                case .created: table.created.append(PushedRecord(id: id, range: origin.range(of: element)))
                case .updated: table.updated.append(PushedRecord(id: id, range: origin.range(of: element)))
                case .deleted: table.deleted.append(id)
                }
            }
        }
        tables.append(table)
    }
}

/// A text that equals another only byte by byte; `String` also takes different normal forms for equal.
private struct ByteString: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The records that are gone, and those that went and came again, by the digests that name them as parents.
struct MovedParents {
    /// The most records that are kept; the children of others stay until they are compared.
    static let maximum = 1 << 18

    /// The departures of the records that are gone, by the table's index and the record's digest.
    private(set) var gone: [Int: [UInt64: RecordVerdict.Departure]] = [:]
    /// The records that went and came again: the number of lines that had come before the part of the stream that said
    /// so.
    private(set) var returned: [Int: [UInt64: UInt64]] = [:]
    /// Tables with more such records than can be kept, or with records whose children are unknown.
    private(set) var overflowed: Set<Int> = []
    private var count = 0
    private let maximum: Int

    init(maximum: Int = Self.maximum) { self.maximum = maximum }

    /// Returns true if any record of a table is known to be gone, or to have gone and come again.
    func areKnown(of table: Int) -> Bool { gone[table] != nil || returned[table] != nil }

    /// Notes that a record is gone.
    ///
    /// - Returns: The departure as it is known now, if that is news; else nil.
    @discardableResult
    mutating func end(
        _ link: UInt64, of table: Int, _ departure: RecordVerdict.Departure
    ) -> RecordVerdict.Departure? {
        if let known = gone[table]?[link] {
            let merged = known.merged(with: departure)
            guard merged != known else { return nil }
            gone[table]?[link] = merged
            return merged
        }
        guard hasRoom(for: table) else { return nil }
        gone[table, default: [:]][link] = departure
        return departure
    }

    /// Notes that a record went and came again.
    ///
    /// - Parameters:
    ///   - link: The digest that names it.
    ///   - table: The table's index in the schema.
    ///   - began: The number of lines that had come before the part of the stream with its last deletion.
    mutating func comeBack(_ link: UInt64, of table: Int, began: UInt64) {
        guard returned[table]?[link] != nil || hasRoom(for: table) else { return }
        returned[table, default: [:]][link] = max(returned[table]?[link] ?? 0, began)
    }

    /// Leaves it to a comparison to find the descendants of a table's records.
    mutating func leaveOpen(_ table: Int) { overflowed.insert(table) }

    /// Forgets the records of a table.
    mutating func forget(_ table: Int) {
        count -= (gone[table]?.count ?? 0) + (returned[table]?.count ?? 0)
        gone[table] = nil
        returned[table] = nil
        overflowed.remove(table)
    }

    /// Forgets the records of a table that are gone without a line that says so.
    mutating func forgetAbsent(_ table: Int) {
        let before = gone[table]?.count ?? 0
        gone[table] = gone[table]?.filter { !$0.value.isAbsent }
        count -= before - (gone[table]?.count ?? 0)
    }

    private mutating func hasRoom(for table: Int) -> Bool {
        guard count < maximum else {
            overflowed.insert(table)
            return false
        }
        count += 1
        return true
    }
}

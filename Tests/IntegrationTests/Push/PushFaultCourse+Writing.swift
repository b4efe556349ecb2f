// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncModel

// What users do.
extension PushFaultCourse {
    mutating func write(on place: Int) throws {
        switch random.next() % 8 {
        case 0..<4: try create(on: place)
        case 4..<7: try update(on: place)
        default: try delete(on: place)
        }
    }

    mutating func create(on place: Int) throws {
        guard let table = tables.tables.randomElement(using: &random) else { return }
        let name = "r\(made.count)"
        var values: [String: ClientValue] = [table.nameColumn: .string(name)]
        var above: String?
        if let parent = table.parent, let row = self.row(of: parent.table, on: place), random.next() % 4 > 0 {
            values[parent.column] = .string(row.id)
            above = row.name
        }
        try devices[place].model.create(table.name, values)
        made[name] = .some(above)
    }

    private mutating func update(on place: Int) throws {
        guard let table = tables.tables.randomElement(using: &random), let row = row(of: table.name, on: place) else {
            return
        }
        let text = "\(row.name) v\(random.next() % 1000)"
        try devices[place].model.update(table.name, row.id, with: [table.nameColumn: .string(text)])
    }

    private mutating func delete(on place: Int) throws {
        guard let table = tables.tables.randomElement(using: &random), let row = row(of: table.name, on: place) else {
            return
        }
        try devices[place].model.delete(table.name, row.id)
        deleted.insert(row.name)
    }

    /// Deletes what the device has written and what belongs to nothing any more, as an app in front of a strict backend
    /// has to.
    mutating func tidy(_ place: Int) throws {
        guard tables.isStrict else { return }
        while let row = dangling(on: place) {
            try devices[place].model.delete(row.table, row.id)
            deleted.insert(row.name)
        }
    }

    private func dangling(on place: Int) -> (table: String, id: String, name: String)? {
        let model = devices[place].model
        for table in tables.tables {
            for (id, values) in model.contents[table.name] ?? [:] {
                guard case .string(let text)? = values[table.nameColumn], isDangling(id, in: table, on: place),
                    model.record(table.name, id)?.status != .synced
                else { continue }
                return (table.name, id, String(text.prefix { $0 != " " }))
            }
        }
        return nil
    }

    /// Whether the device has no longer what a record belongs to, or what that belongs to.
    private func isDangling(_ id: String, in table: FaultTables.Table, on place: Int) -> Bool {
        let contents = devices[place].model.contents
        guard let (column, parents) = table.parent, case .string(let parent)? = contents[table.name]?[id]?[column],
            let above = tables.tables.first(where: { $0.name == parents })
        else { return false }
        return contents[parents]?[parent] == nil || isDangling(parent, in: above, on: place)
    }

    /// A record that the device shows, by chance, and its name.
    private mutating func row(of table: String, on place: Int) -> (id: String, name: String)? {
        guard let column = tables.tables.first(where: { $0.name == table })?.nameColumn else { return nil }
        let rows = devices[place].model.contents[table] ?? [:]
        guard let id = rows.keys.sorted().randomElement(using: &random), case .string(let text)? = rows[id]?[column]
        else { return nil }
        return (id, String(text.prefix { $0 != " " }))
    }
}

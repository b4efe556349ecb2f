// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncModel

/// One of the clients under whose load gateways are killed: it writes and syncs all the time, and remembers what it has
/// written.
struct KillClient: Sendable {
    /// A record that only this client writes.
    struct Record: Sendable {
        let table: FaultTables.Table
        let id: String
        /// The text that was written last; nil where the record was deleted.
        var text: String?
    }

    /// The name by which its records are told from those of others.
    let name: String
    let user: String
    let tables: FaultTables
    var device: StackDevice
    /// The records of this client by name.
    private(set) var records: [String: Record] = [:]
    private var edits = 0
    private var random: SeededGenerator

    init(_ name: String, user: String, tables: FaultTables, device: StackDevice, seed: UInt64) {
        self.name = name
        self.user = user
        self.tables = tables
        self.device = device
        random = SeededGenerator(seed: seed)
    }

    /// Writes and syncs until the load is over.
    mutating func run(_ load: KillLoad) async throws {
        var isSynced = true
        while let port = try await load.port() {
            device.http.port = port
            // Users who cannot sync write less: what waits must not become more than can be pushed.
            if isSynced || random.next() % 8 == 0 {
                do { try write() } catch { load.fail("\(name) cannot write: \(error)") }
            }
            isSynced = await sync(load)
            if !isSynced { try await pause() }
        }
    }

    /// Syncs until that succeeds, for a while.
    mutating func quiesce(_ load: KillLoad) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while .now < end {
            if await sync(load) { return }
            try await pause()
        }
        load.fail("\(name) cannot sync although all is quiet")
    }

    /// Waits before the next try, shorter than an app would: answers that ask for patience cost the gateway little, but
    /// not nothing.
    private mutating func pause() async throws { try await Task.sleep(for: .milliseconds(Int(random.next() % 800))) }

    /// Syncs once and says whether that succeeded; whatever becomes of it, the app goes on with what it has.
    private mutating func sync(_ load: KillLoad) async -> Bool {
        do {
            try await device.pull()
            if let port = load.otherPort { device.http.port = port }
            try await device.push()
            load.count("synced")
            return true
        } catch StackDevice.Failure.pull(let answer) {
            note("pull", answer, load)
        } catch StackDevice.Failure.push(let answer) {
            note("push", answer, load)
        } catch StackDevice.Failure.apply(let failure, let answer) {
            load.fail("\(name) cannot apply: \(failure.message), \(answer)")
        } catch {
            load.count("no connection")
        }
        return false
    }

    private func note(_ request: String, _ answer: RawAnswer, _ load: KillLoad) {
        guard answer.isComplete else { return load.count("\(request) cut") }
        load.count("\(request) \(answer.outcome)")
        if !load.tolerated.contains(answer.status) { load.fail("\(name): \(request) \(answer)") }
    }
}

// What its user does.
extension KillClient {
    private mutating func write() throws {
        guard device.model.lastPulledAt != nil else { return }
        for _ in 0...random.next() % 3 {
            switch random.next() % 8 {
            case 0..<4: try create()
            case 4, 5: try updateOwn()
            case 6: try updateShared()
            default: try delete()
            }
        }
    }

    private mutating func create() throws {
        guard let table = tables.tables.randomElement(using: &random) else { return }
        let text = "\(name)-\(records.count)"
        var values: [String: ClientValue] = [table.nameColumn: .string(text)]
        if let parent = table.parent, let row = row(of: parent.table) { values[parent.column] = .string(row) }
        records[text] = Record(table: table, id: try device.model.create(table.name, values), text: text)
    }

    private mutating func updateOwn() throws {
        guard let (name, record) = own(where: { _ in true }) else { return }
        edits += 1
        let text = "\(name) \(edits)"
        try device.model.update(record.table.name, record.id, with: [record.table.nameColumn: .string(text)])
        records[name]?.text = text
    }

    /// Changes a record that others change too: who wins is the backend's business.
    private mutating func updateShared() throws {
        guard let table = tables.tables.randomElement(using: &random) else { return }
        let rows = device.model.contents[table.name] ?? [:]
        let shared = rows.filter { Self.name(of: $0.value, table)?.hasPrefix(KillCourse.sharedName) == true }
        guard let id = shared.keys.sorted().randomElement(using: &random), let name = Self.name(of: rows[id], table)
        else { return }
        edits += 1
        try device.model.update(table.name, id, with: [table.nameColumn: .string("\(name) \(self.name)-\(edits)")])
    }

    /// Deletes a record that no other one belongs to.
    private mutating func delete() throws {
        let parents = Set(tables.tables.compactMap { $0.parent?.table })
        guard let (name, record) = own(where: { !parents.contains($0.table.name) }) else { return }
        try device.model.delete(record.table.name, record.id)
        records[name]?.text = nil
    }

    private mutating func own(where isWanted: (Record) -> Bool) -> (name: String, Record)? {
        let names = records.filter { $0.value.text != nil && isWanted($0.value) }.keys.sorted()
        return names.randomElement(using: &random).flatMap { name in records[name].map { (name, $0) } }
    }

    private mutating func row(of table: String) -> String? {
        (device.model.contents[table] ?? [:]).keys.sorted().randomElement(using: &random)
    }

    private static func name(of record: [String: ClientValue]?, _ table: FaultTables.Table) -> String? {
        guard case .string(let text)? = record?[table.nameColumn] else { return nil }
        return String(text.prefix { $0 != " " })
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayTesting
import SQLiteState
import StateStore

// What must be true when all is quiet.
extension KillCourse {
    /// Compares every device, and a new one of each user, with the backend, and the backend with what was written.
    func judge(_ gateway: GatewayProcess) async throws {
        for (user, devices) in Dictionary(grouping: clients, by: \.user).sorted(by: { $0.key < $1.key }) {
            let contents = try await StackOracle.contents(
                of: backend, for: user, schema: tables.schema, version: tables.version)
            for client in devices {
                if client.device.model.hasUnsyncedChanges { load.fail("\(client.name) has unsynced changes") }
                compare(client.name, client.device.model.contents, contents)
                judge(client, contents)
            }
            let model = ClientModel(schema: tables.schema, version: tables.version, seed: seed &+ 77)
            var device = StackDevice(
                model: model, token: devices[0].device.token, shape: .docs, http: gateway.http)
            try await device.sync()
            compare("a new device of \(user)", device.model.contents, contents)
        }
    }

    /// Looks for what is on one side only, or more than once on any.
    private func compare(_ name: String, _ device: ContentOracle.Tables, _ contents: ContentOracle.Tables) {
        for line in tables.oracle.differences(device, contents) { load.fail("\(name): \(line)") }
    }

    /// Looks for each record that a client has written: it is there once, with its last text, or it was deleted.
    private func judge(_ client: KillClient, _ contents: ContentOracle.Tables) {
        for (name, record) in client.records {
            let table = record.table
            let texts = (contents[table.name] ?? [:]).values.compactMap { values -> String? in
                guard case .string(let text)? = values[table.nameColumn] else { return nil }
                return text.prefix { $0 != " " } == name ? text : nil
            }
            if texts != [record.text].compactMap(\.self) {
                load.fail("\(table.name) \(name): \(texts) for \(record.text ?? "a deletion")")
            }
        }
    }

    /// Checks the state as the program does, and looks for what a kill must not leave behind.
    func judgeState() async throws {
        let path = "\(directory)/state.db"
        let store = try await SQLiteStateStore.open(path: path)
        do {
            try await store.check(thoroughly: true)
        } catch {
            load.fail("the state is damaged: \(error)")
        }
        await store.close()
        let state = try StateDump(path: path, kinds: [.line, .push])
        for (kind, rows) in state.rows where !rows.isEmpty { load.fail("\(kind): \(rows.prefix(3))") }
    }

    /// The figures.
    var report: String {
        let records = clients.reduce(0) { $0 + $1.records.count }
        let outcomes = load.outcomes.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }
        return "\(clients.count) clients, \(records) records; syncs: \(outcomes.joined(separator: ", "))"
    }
}

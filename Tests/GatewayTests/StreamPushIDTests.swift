// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import StateStore
import SyncModel
import Testing
import WatermelonWire

@testable import Gateway

/// What a push learns of the ids in its answer.
@Suite struct StreamPushIDTests {
    static let schema: Schema = {
        var tables = ["texts", "numbers"].map { name in
            var table = Table(name: name)
            table.ids = [.init(paths: [Path(name: "id")])]
            table.isIDFromBackend = true
            return table
        }
        tables[1].idType = .integer
        var links = Table(name: "links")
        links.ids = [.init(paths: [Path(name: "text"), Path(name: "number")])]
        links.columns = [("text", "texts"), ("number", "numbers")].map { name, target in
            var column = Column(name: name, type: .string)
            column.reference = target
            return column
        }
        tables.append(links)
        return Schema(version: 1, tables: tables)
    }()

    /// A push of records, each by its kind, table and JSON.
    static func push(
        _ records: [(OperationKind, Int, String, String)]
    ) -> (reader: OperationReader, operations: [PushOperation]) {
        var bytes: [UInt8] = []
        let operations = records.map { kind, table, id, json in
            let start = bytes.count
            bytes += json.utf8
            return PushOperation(kind: kind, table: table, id: id, range: kind == .delete ? nil : start..<bytes.count)
        }
        let reader = OperationReader(
            schema: schema, changes: PushChanges(bytes: bytes, tables: []), depth: 8, sendsChanged: false)
        return (reader, operations)
    }

    static func mapping(_ table: Int, _ client: String, _ backend: String) -> IDMapping {
        IDMapping(table: schema.tables[table].name, clientID: client, backendID: backend)
    }

    @Test func `the id of a link is put together from what its parents are called in the same answer`() {
        var (reader, operations) = Self.push([
            (.create, 0, "T", #"{"id":"T"}"#), (.create, 1, "N", #"{"id":"N"}"#),
            (.create, 2, "L", #"{"id":"L","text":"T","number":"N"}"#),
        ])
        reader.ids.inOneRequest = Set(operations.map { PushReference(table: $0.table, id: $0.id) })
        let (mappings, unfit) = reader.learn([0: "a1", 1: "7"], operations)
        #expect(unfit.isEmpty)
        #expect(mappings == [Self.mapping(0, "T", "a1"), Self.mapping(1, "N", "7"), Self.mapping(2, "L", "a1.7")])
    }

    @Test func `an id that cannot be kept costs no other record its id`() {
        let long = String(repeating: "x", count: 200)
        var (reader, operations) = Self.push([
            (.create, 0, "T", #"{"id":"T"}"#), (.create, 0, "U", #"{"id":"U"}"#),
            (.create, 0, "V", #"{"id":"V"}"#), (.create, 2, "L", #"{"id":"L","text":"U","number":"7"}"#),
            (.create, 1, "N", #"{"id":"N"}"#),
        ])
        let (mappings, unfit) = reader.learn(
            [0: long + long, 1: String(repeating: "_", count: 100), 2: "v1", 4: "8"], operations)
        #expect(mappings.map(\.clientID) == ["U", "V", "N"] && unfit.count == 2)
        #expect(unfit.allSatisfy { $0 is UnfitID })
    }

    @Test func `an update that has made a record teaches its id, and one that has not teaches nothing`() {
        var (reader, operations) = Self.push([
            (.update, 0, "T", #"{"id":"T"}"#), (.update, 0, "U", #"{"id":"U"}"#),
            (.update, 0, "V", #"{"id":"V"}"#), (.update, 2, "L", #"{"id":"L","text":"V","number":"7"}"#),
            (.delete, 0, "W", ""),
        ])
        reader.ids.learn(Self.mapping(0, "V", "v1"))
        let (mappings, _) = reader.learn([0: "t1", 1: "U", 2: "v1", 4: "w1"], operations)
        #expect(mappings.map(\.clientID) == ["T", "L"])
        #expect(mappings.map(\.backendID) == ["t1", "v1.7"])
    }

    @Test func `what may have been the backend's own id is never said for the record that is made in its place`() {
        var (reader, operations) = Self.push([
            (.update, 1, "7", #"{"id":"7"}"#), (.update, 1, "X", #"{"id":"X"}"#),
            (.update, 0, "U", #"{"id":"U"}"#), (.create, 0, "T", #"{"id":"T"}"#),
        ])
        reader.ids.learn(Self.mapping(1, "X", "8"))
        let (mappings, _) = reader.learn([0: "12", 1: "13", 2: "u", 3: "t"], operations)
        #expect(mappings.map(\.backendID) == ["12", "13", "u", "t"])
        #expect(mappings.map(\.mayBeBackends) == [true, false, true, false])
    }

    @Test func `the parts of an id that the backend has put together are the backend's`() throws {
        var (reader, operations) = Self.push([(.delete, 2, "L", ""), (.delete, 2, "7.7", "")])
        reader.ids.learn(Self.mapping(0, "7", "12"))
        reader.ids.learn(Self.mapping(2, "L", "7.5"))
        #expect(try reader.content(of: operations[0]).key.map(\.value) == [.string("7"), .integer(5)])
        #expect(try reader.content(of: operations[1]).key.map(\.value) == [.string("12"), .integer(7)])
    }
}

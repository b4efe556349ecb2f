// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncMachines
import SyncModel
import Testing

@testable import Gateway
@testable import StateStore

/// What the ids that a client pushes are to the backend.
@Suite struct PushedIDsTests {
    private static func table(_ name: String, _ type: Table.IDType, makesIDs: Bool = true) -> Table {
        var table = Table(name: name)
        table.idType = type
        table.ids = [.init(paths: [Path(name: "id")])]
        var create = Call(method: "POST", target: [.text("/")])
        create.returns = makesIDs ? Path(name: "id") : nil
        table.calls.create = .call(create)
        return table
    }

    private static func column(_ name: String, _ reference: String?) -> Column {
        var column = Column(name: name, type: .string)
        column.isOptional = true
        column.reference = reference
        return column
    }

    private static let schema: Schema = {
        var links = table("links", .text, makesIDs: false)
        links.columns = [column("number", "numbers"), column("text", "texts"), column("plain", nil)]
        return Schema(version: 1, tables: [table("numbers", .integer), table("texts", .text), links])
    }()

    /// X is 7, U is a text, Y is 7 as well.
    private static func ids(maximum: Int = .max) -> PushedIDs {
        var known = PrincipalIDs(key: SipHash.Key(1, 2))
        let places = ["numbers": 0, "texts": 1]
        for (sequence, row) in [("numbers", "X", "7", true), ("texts", "U", "0-1", true), ("numbers", "Y", "7", false)]
            .enumerated()
        {
            known.take(
                StoredIDMapping(
                    mapping: IDMapping(table: row.0, clientID: row.1, backendID: row.2), isPublic: row.3,
                    sequence: Int64(sequence) + 1), places)
        }
        #expect(known.sequence == 3)
        return PushedIDs(schema: schema, known: known, maximum: maximum)
    }

    private static func treatment(_ kind: OperationKind, _ table: Int, _ id: String) -> PushedIDs.Treatment {
        var ids = ids()
        ids.held = [PushReference(table: 0, id: "5"), PushReference(table: 1, id: "h")]
        return ids.treatment(of: PushOperation(kind: kind, table: table, id: id, range: nil))
    }

    @Test(arguments: [
        (OperationKind.create, 0, "X", PushedIDs.Treatment.send(.update)), (.create, 0, "N", .send(.create)),
        (.create, 0, "5", .send(.update)), (.create, 1, "U", .send(.update)), (.create, 1, "12", .send(.create)),
        (.create, 1, "h", .send(.update)), (.update, 0, "X", .send(.update)), (.update, 0, "9", .send(.update)),
        (.update, 0, "N", .send(.create)), (.update, 1, "N", .send(.update)), (.delete, 0, "X", .send(.delete)),
        (.delete, 0, "9", .send(.delete)), (.delete, 0, "N", .nothing), (.delete, 1, "N", .send(.delete)),
        (.create, 2, "a b", .send(.create)), (.update, 2, "N", .send(.update)),
    ])
    func `an operation becomes what the backend needs`(
        kind: OperationKind, table: Int, id: String, treatment: PushedIDs.Treatment
    ) {
        #expect(Self.treatment(kind, table, id) == treatment)
    }

    @Test(arguments: [(0, "12"), (0, "-3"), (0, "a b"), (1, "a/b"), (1, "..")])
    func `a new record with an id that could be another's or that nobody could get back is refused`(
        table: Int, id: String
    ) {
        guard case .refuse = Self.treatment(.create, table, id) else {
            Issue.record("\(id) is sent")
            return
        }
    }

    @Test(arguments: [
        (#"{"number":"X","text":"U","plain":"X"}"#, #"{"number":7,"text":"0-1","plain":"X"}"#, [String]()),
        (#"{"number":"12345678901234567890","text":"V"}"#, #"{"number":12345678901234567890,"text":"V"}"#, []),
        (#"{"number":"","text":null}"#, #"{"number":null,"text":null}"#, []),
        (#"{"number":null}"#, #"{"number":null}"#, []),
        (#"{"number":"gone","text":"7"}"#, #"{"number":"gone","text":"7"}"#, ["number"]),
        (#"{"number":"007"}"#, #"{"number":"007"}"#, ["number"]),
    ])
    func `references become the backend's ids, as numbers where these are numbers`(
        pushed: String, sent: String, missing: [String]
    ) throws {
        var record = RecordSanitizer(table: Self.schema.tables[2]).sanitize(try JSONValue.parse(pushed))
        let lost = Self.ids().translate(&record)
        #expect(record.data == (try JSONValue.parse(sent)))
        #expect(lost.keys.sorted() == missing)
    }

    @Test func `what a push creates is known to what follows in it`() {
        var ids = Self.ids()
        let record = PushReference(table: 0, id: "N")
        #expect(ids.reference(to: record) == nil)
        ids.inOneRequest = [record]
        #expect(ids.reference(to: record) == .string("N"))
        ids.learn(IDMapping(table: "numbers", clientID: "N", backendID: "8"))
        #expect(ids.reference(to: record) == .integer(8) && ids.value(of: record) == .integer(8))
        ids.learn(IDMapping(table: "numbers", clientID: "X", backendID: "9"))
        #expect(ids.value(of: PushReference(table: 0, id: "X")) == .integer(9))
        ids.learn(IDMapping(table: "gone", clientID: "X", backendID: "10"))
        #expect(ids.value(of: PushReference(table: 0, id: "X")) == .integer(9))
    }

    @Test func `a text that names a record which is still to be made is no id of the backend's`() {
        var ids = Self.ids()
        let record = PushReference(table: 1, id: "N")
        #expect(ids.reference(to: record) == .string("N"))
        ids.unmade = [record]
        #expect(ids.reference(to: record) == nil)
        ids.learn(IDMapping(table: "texts", clientID: "N", backendID: "8"))
        #expect(ids.reference(to: record) == .string("8"))
    }

    @Test func `no more records are made than there is room for, and those that are go on`() {
        let ids = Self.ids(maximum: 3)
        func treatment(_ kind: OperationKind, _ id: String) -> PushedIDs.Treatment {
            ids.treatment(of: PushOperation(kind: kind, table: 0, id: id, range: nil))
        }
        #expect(treatment(.create, "X") == .send(.update) && treatment(.update, "9") == .send(.update))
        for kind in [OperationKind.create, .update] {
            guard case .refuse = treatment(kind, "N") else {
                Issue.record("a record is made")
                return
            }
        }
        #expect(!Self.ids(maximum: 4).isFull)
    }
}

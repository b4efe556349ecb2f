// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel
import Testing

/// What a line says to a device that knows a record by the id that its client has made, not by the backend's.
@Suite struct AliasProjectionTests {
    static func reference(_ name: String, _ table: String, optional: Bool = false, at path: String) -> Column {
        var column = Column.make(name, .string, optional: optional, .at(path))
        column.reference = table
        return column
    }

    static let folders = Table.make(
        "folders", upsert: "FolderV1",
        columns: [
            .make("name", .string), reference("parent_id", "folders", optional: true, at: "parentId"),
        ]
    ).with(deletes: [.init(type: "FolderDeleteV1", target: .by([Path(name: "id")], all: false))])

    static let notes = Table.make(
        "notes", upsert: "NoteV1",
        columns: [.make("title", .string), reference("folder_id", "folders", at: "folderId")]
    ).with(deletes: [
        .init(type: "NoteDeleteV1", target: .by([Path(name: "id")], all: false)),
        .init(type: "FolderClearV1", target: .whereColumn("folder_id", equals: Path(name: "folder"))),
    ])

    static let pairs = Table.make(
        "pairs", upsert: "PairV1", columns: [reference("folder_id", "folders", at: "folderId")]
    ).with(
        ids: [.init(paths: [Path(name: "folderId"), Path(name: "tag")])],
        deletes: [.init(type: "PairDeleteV1", target: .by([Path(name: "folderId"), Path(name: "tag")], all: true))])

    static let schema = Schema(version: 1, tables: [folders, notes, pairs])

    /// A bench whose device knows folder 7 as X, note 3 as N and pair 7.1 as P.
    static func bench(keeping kept: Set<VisibleIDs.Entry> = []) -> ProjectionBench {
        var bench = ProjectionBench(folders, notes, pairs)
        var ids = PackedIDs(key: ProjectionBench.key)
        ids.set(table: 0, id: "7", to: "X")
        ids.set(table: 1, id: "3", to: "N")
        ids.set(table: 2, id: "7.1", to: "P")
        bench.projector.aliases = IDAliases(ids, keeping: kept, schema: schema)
        return bench
    }

    static func line(_ type: String, _ data: String) -> String { #"{"type":"\#(type)","data":\#(data)}"# }

    @Test(arguments: [
        ("FolderV1", #"{"id":7,"name":"a","parentId":null}"#, #"{"id":"X","name":"a","parent_id":null}"#),
        ("FolderV1", #"{"id":8,"name":"a","parentId":7}"#, #"{"id":"8","name":"a","parent_id":"X"}"#),
        ("FolderV1", #"{"id":"7","name":"a","parentId":"8"}"#, #"{"id":"X","name":"a","parent_id":"8"}"#),
        ("FolderV1", #"{"id":"\u0037","name":"a","parentId":"\u0037"}"#, #"{"id":"X","name":"a","parent_id":"X"}"#),
        ("NoteV1", #"{"id":7,"title":"7","folderId":7}"#, #"{"id":"7","title":"7","folder_id":"X"}"#),
        ("NoteV1", #"{"id":3,"title":"t","folderId":-0}"#, #"{"id":"N","title":"t","folder_id":"0"}"#),
        ("NoteV1", #"{"id":3,"title":"t","folderId":7.5}"#, #"{"id":"N","title":"t","folder_id":""}"#),
        ("NoteV1", #"{"id":3,"title":"t","folderId":""}"#, #"{"id":"N","title":"t","folder_id":""}"#),
        ("PairV1", #"{"folderId":7,"tag":1}"#, #"{"id":"P","folder_id":"X"}"#),
        ("PairV1", #"{"folderId":7,"tag":2}"#, #"{"id":"7.2","folder_id":"X"}"#),
        ("FolderDeleteV1", #"{"id":7}"#, #""X""#),
        ("NoteDeleteV1", #"{"id":4}"#, #""4""#),
        ("PairDeleteV1", #"{"folderId":7,"tag":1}"#, #""P""#),
        ("FolderClearV1", #"{"folder":7}"#, #""X""#),
        ("FolderClearV1", #"{"folder":"9"}"#, #""9""#),
    ])
    func `ids and references are those of the client`(type: String, data: String, text: String) {
        var bench = Self.bench()
        #expect(bench.text(Self.line(type, data)) == text)
    }

    @Test func `hash, content and links are those of a record that has the client's ids`() {
        var (aliased, plain) = (Self.bench(), ProjectionBench(Self.folders, Self.notes, Self.pairs))
        let first = aliased.result(Self.line("NoteV1", #"{"id":3,"title":"t","folderId":7}"#))
        let second = plain.result(Self.line("NoteV1", #"{"id":"N","title":"t","folderId":"X"}"#))
        #expect(first == second)
        #expect(aliased.projector.content == plain.projector.content)
        #expect(aliased.projector.links == plain.projector.links && aliased.projector.links.first != 0)
        #expect(aliased.projector.idLength == 1)
        guard
            case .deleteWhere(_, _, _, _, let digest, _) = aliased.result(Self.line("FolderClearV1", #"{"folder":7}"#))
        else { return #expect(Bool(false)) }
        #expect(digest == plain.projector.links.first)
    }

    @Test func `a device that has got a record under the backend's id goes on knowing it by that`() {
        var bench = Self.bench(keeping: [.init(table: "folders", id: "7"), .init(table: "gone", id: "3")])
        #expect(
            bench.text(Self.line("FolderV1", #"{"id":7,"name":"a","parentId":7}"#))
                == #"{"id":"7","name":"a","parent_id":"7"}"#)
        #expect(bench.text(Self.line("NoteDeleteV1", #"{"id":3}"#)) == #""N""#)
        #expect(bench.text(Self.line("FolderClearV1", #"{"folder":7}"#)) == #""7""#)
    }

    @Test func `an id that no device could hold is delivered under the client's`() {
        var bench = ProjectionBench(Self.folders)
        var ids = PackedIDs(key: ProjectionBench.key)
        ids.set(table: 0, id: "a/b", to: "X")
        bench.projector.aliases = IDAliases(ids, schema: Schema(version: 1, tables: [Self.folders]))
        #expect(bench.text(Self.line("FolderDeleteV1", #"{"id":"a/b"}"#)) == #""X""#)
        #expect(bench.result(Self.line("FolderDeleteV1", #"{"id":"a/c"}"#)).reason == .unsafeID)
    }

    @Test func `without mappings a reference to a number is its digits, as the id is`() {
        var bench = ProjectionBench(Self.folders, Self.notes)
        let text = bench.text(Self.line("NoteV1", #"{"id":3,"title":"t","folderId":12345678901234567890}"#))
        #expect(text == #"{"id":"3","title":"t","folder_id":"12345678901234567890"}"#)
        #expect(bench.projector.counters.defaults.wrong == 0)
    }
}

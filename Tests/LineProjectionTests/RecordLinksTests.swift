// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel
import Testing

@Suite struct RecordLinksTests {
    static func digest(_ id: String) -> UInt64 { IDHash(id: id, key: ProjectionBench.key).link }

    /// A table whose only link is a column of this type, which delete lines name too.
    static func table(_ type: ColumnType, since: Int = 0, _ sources: Column.Source...) -> Table {
        var column = Column.make("p", type, optional: true, since: since)
        if !sources.isEmpty { column.sources = sources }
        var table = Table.make("t", upsert: "TV1", columns: [.make("name", .string), column])
        table.parents = [.init(column: "p", table: "parents")]
        table.deletes = [.init(type: "TSweepV1", target: .whereColumn("p", equals: Path(name: "p")))]
        return table
    }

    static func links(_ table: Table, _ data: String) -> [UInt64] {
        var bench = ProjectionBench(table)
        _ = bench.text(#"{"type":"TV1","data":{"id":"x"\#(data)}}"#)
        return bench.projector.links
    }

    static let linked: [(ColumnType, String, String)] = [
        (.string, #""a-b""#, "a-b"), (.string, #""\u0061-b""#, "a-b"), (.string, #""x y/é""#, "x y/é"),
        (.string, #""42""#, "42"), (.number, "42", "42"), (.number, "42.0", "42"), (.number, "4.2e1", "42"),
        (.number, "-7", "-7"), (.number, "-0", "0"), (.number, "0.0", "0"),
        (.number, "9007199254740991", "9007199254740991"), (.number, #""42""#, "42"), (.string, "42", "42"),
        (.timestamp, "1767323045678", "1767323045678"), (.timestamp, #""1970-01-01T00:00:01Z""#, "1000"),
    ]

    @Test(arguments: linked)
    func `a link is the digest of the id that the value names`(type: ColumnType, value: String, id: String) {
        #expect(Self.links(Self.table(type), #","p":\#(value)"#) == [Self.digest(id)])
        #expect(
            LinkDigest.of(try? Self.slice(value), ColumnSpelling(type), key: ProjectionBench.key) == Self.digest(id))
    }

    static func slice(_ text: String) throws -> JSONSlice {
        // Kept for the length of the process, since slices borrow.
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        bytes.copyBytes(from: text.utf8)
        return try JSONScanner.document(UnsafeRawBufferPointer(bytes))
    }

    @Test(
        arguments: [
            (.string, "null"), (.string, nil), (.string, #""""#), (.string, "{}"), (.number, "1.5"),
            (.number, "123456789012345678901234"), (.number, "1e300"), (.boolean, "true"), (.boolean, "1"),
            (.json, "1"),
            (.json, #""a""#), (.timestamp, #""yesterday""#),
        ] as [(ColumnType, String?)])
    func `what names no record has no link`(type: ColumnType, value: String?) {
        #expect(Self.links(Self.table(type), value.map { #","p":\#($0)"# } ?? "") == [0])
    }

    @Test(arguments: linked)
    func `a delete line by column has the digest that records with its value have`(
        type: ColumnType, value: String, id: String
    ) {
        var bench = ProjectionBench(Self.table(type))
        guard
            case .deleteWhere(0, 0, column: 1, link: 0, let digest, _) = bench.result(
                #"{"type":"TSweepV1","data":{"p":\#(value)}}"#)
        else {
            Issue.record("\(value) was refused")
            return
        }
        #expect(digest == Self.digest(id))
    }

    @Test(
        arguments: [
            (.string, #""""#, QuarantinedLine.Reason.noID), (.string, "null", .noID), (.string, "[1]", .unsafeID),
            (.boolean, "true", .unsafeID), (.json, #""a""#, .unsafeID), (.number, "0.5", .unsafeID),
        ] as [(ColumnType, String, QuarantinedLine.Reason)])
    func `a delete line whose value names no record is quarantined`(
        type: ColumnType, value: String, reason: QuarantinedLine.Reason
    ) {
        var bench = ProjectionBench(Self.table(type))
        let (result, text) = bench.project(#"{"type":"TSweepV1","data":{"p":\#(value)}}"#)
        #expect(result == .quarantined(reason, scope: .nothing))
        #expect(text.isEmpty)
    }

    @Test func `links stand in the order of the table's, each column once`() {
        var table = Table.make(
            "t", upsert: "TV1",
            columns: [.make("a", .string), .make("b", .string), .make("c", .string), .make("d", .string)])
        table.parents = [
            .init(column: "c", table: "x"), .init(column: "a", table: "y"), .init(column: "c", table: "z"),
        ]
        table.deletes = [
            .init(type: "TByAV1", target: .whereColumn("a", equals: Path(name: "v"))),
            .init(type: "TByDV1", target: .whereColumn("d", equals: Path(name: "v"))),
        ]
        #expect(table.links.map(\.column) == [2, 0, 3])
        var bench = ProjectionBench(table)
        _ = bench.text(#"{"type":"TV1","data":{"id":"1","a":"A","b":"B","c":"C","d":"D"}}"#)
        #expect(bench.projector.links == ["C", "A", "D"].map(Self.digest))
        _ = bench.text(#"{"type":"TV1","data":{"id":"2","d":"D"}}"#)
        #expect(bench.projector.links == [0, 0, Self.digest("D")])
        let byColumn = bench.result(#"{"type":"TByDV1","data":{"v":"D"}}"#)
        guard case .deleteWhere(_, _, column: 3, link: 2, digest: Self.digest("D"), _) = byColumn else {
            Issue.record("\(byColumn)")
            return
        }
    }

    @Test func `a column that the client's version lacks has its link, and nothing else`() {
        let table = Self.table(.string, since: 5, .at("q.r"), .at("p"))
        var bench = ProjectionBench(table, version: 4)
        let text = bench.text(#"{"type":"TV1","data":{"id":"x","name":"N","q":{"r":"P"}}}"#)
        #expect(text == #"{"id":"x","name":"N"}"#)
        #expect(bench.projector.links == [Self.digest("P")])
        let content = bench.projector.content
        #expect(content == ContentHashTests.hash([.make("name", .string)], #""name":"N""#))
        _ = bench.text(#"{"type":"TV1","data":{"id":"x","name":"N","p":"Q"}}"#)
        #expect(bench.projector.links == [Self.digest("Q")] && bench.projector.content == content)
        _ = bench.text(#"{"type":"TV1","data":{"id":"x","name":"N","p":[7]}}"#)
        #expect(bench.projector.links == [0] && bench.projector.content == content)
        #expect(bench.projector.counters.defaults == (0, 0))
    }

    @Test func `a constant can be a link`() {
        #expect(Self.links(Self.table(.string, .at("p"), .literal(.string("all"))), "") == [Self.digest("all")])
        #expect(
            Self.links(Self.table(.string, .at("p"), .literal(.string("all"))), #","p":"one""#) == [Self.digest("one")])
        #expect(Self.links(Self.table(.number, .literal(.number(7))), "") == [Self.digest("7")])
        #expect(Self.links(Self.table(.string, since: 5, .lineType), "") == [Self.digest("TV1")])
        #expect(Self.links(Self.table(.json, .literal(.string("7"))), "") == [0])
        #expect(Self.links(Self.table(.string, .literal(.string(""))), "") == [0])
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

@Suite struct SchemaInferenceTests {
    /// Projects from the beginning with a colour since 3, comments since 2, tags since 5 with a rank since 7.
    private static let schema: Schema = {
        var color = Column(name: "color", type: .string)
        color.since = 3
        var projects = Table(name: "projects")
        projects.columns = [Column(name: "name", type: .string), color]
        var comments = Table(name: "comments")
        comments.since = 2
        comments.columns = [Column(name: "body", type: .string)]
        var rank = Column(name: "rank", type: .number)
        rank.since = 7
        var tags = Table(name: "tags")
        tags.since = 5
        tags.columns = [Column(name: "label", type: .string), rank]
        return Schema(version: 9, oldest: 1, tables: [projects, comments, tags])
    }()

    /// A push of tables whose created and updated records are given as JSON.
    private static func version(
        _ tables: [(name: String, created: [String], updated: [String])], oldest: Int = 1, known: Int? = nil
    ) -> Int {
        var schema = schema
        schema.oldest = oldest
        var bytes: [UInt8] = []
        func records(_ texts: [String]) -> [PushedRecord] {
            texts.map { text in
                let start = bytes.count
                bytes += Array(text.utf8) + [UInt8(ascii: ",")]
                return PushedRecord(id: "r", range: start..<start + text.utf8.count)
            }
        }
        let pushed = tables.map {
            PushedTable(name: $0.name, created: records($0.created), updated: records($0.updated), deleted: ["d"])
        }
        return SchemaInference(schema).version(of: pushed, in: bytes, atLeast: known)
    }

    @Test func `a table that is named shows the version, be it empty`() {
        #expect(Self.version([]) == 1)
        #expect(Self.version([("projects", [], [])]) == 1)
        #expect(Self.version([("projects", [], []), ("comments", [], [])]) == 2)
        #expect(Self.version([("tags", [], []), ("projects", [], [])]) == 5)
    }

    @Test func `a column that a record names shows the version, whatever its value`() {
        #expect(Self.version([("projects", [#"{"id":"a","name":"x"}"#], [])]) == 1)
        #expect(Self.version([("projects", [#"{"id":"a","color":null}"#], [])]) == 3)
        #expect(Self.version([("projects", [], [#"{"id":"a","col\u006fr":"red"}"#])]) == 3)
    }

    @Test func `one record of many that names it is enough`() {
        let plain = Array(repeating: #"{"id":"a","name":"x"}"#, count: 50)
        #expect(Self.version([("tags", plain, plain + [#"{"rank":1}"#])]) == 7)
    }

    @Test func `the newest of all that is named counts`() {
        let tags = (name: "tags", created: [#"{"rank":1}"#], updated: [String]())
        let projects = (name: "projects", created: [#"{"color":"red"}"#], updated: [String]())
        #expect(Self.version([tags, projects]) == 7)
        #expect(Self.version([projects, tags]) == 7)
    }

    @Test func `bookkeeping and unknown names say nothing`() {
        let record = #"{"id":"a","_status":"created","_changed":"color","rank":1,"later":true,"__proto__":{"color":1}}"#
        #expect(Self.version([("projects", [record], []), ("drafts", [#"{"color":1}"#], [])]) == 1)
    }

    @Test func `a column of another table or deeper down says nothing`() {
        #expect(Self.version([("comments", [#"{"color":1,"body":{"rank":1}}"#], [])]) == 2)
    }

    @Test func `it is never below the oldest version, nor below what is known`() {
        #expect(Self.version([("projects", [], [])], oldest: 4) == 4)
        #expect(Self.version([("comments", [], [])], known: 3) == 3)
        #expect(Self.version([("projects", [#"{"color":1}"#], [])], known: 6) == 6)
        #expect(Self.version([("tags", [#"{"rank":1}"#], [])], known: 6) == 7)
    }

    @Test func `a place that is not in the bytes is passed over`() {
        let table = PushedTable(name: "projects", created: [PushedRecord(id: "a", range: 5..<90)])
        #expect(SchemaInference(Self.schema).version(of: [table], in: Array("{}".utf8)) == 1)
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing
import WatermelonWire

@Suite struct MigrationReadingTests {
    private func migration(_ query: String) throws(WireError) -> Migration? {
        try read("GET", "/sync?last_pulled_at=7&\(query)")?.pull?.migration
    }

    @Test(arguments: [
        "migration=", "migration=null", "migration=undefined", "migration=%22null%22", "migration=%22%22", "a=b",
        "migration=%2522null%2522",
    ])
    func `no migration is no migration`(query: String) throws {
        #expect(try migration(query) == nil)
    }

    @Test(arguments: [
        #"{"from":1,"tables":["a"],"columns":[]}"#, #" {"columns":[],"from":1.0,"extra":{},"tables":["a"]} "#,
        "%7B%22from%22%3A1%2C%22tables%22%3A%5B%22a%22%5D%2C%22columns%22%3A%5B%5D%7D",
        "%257B%2522from%2522%253A1%252C%2522tables%2522%253A%255B%2522a%2522%255D%252C%2522columns%2522%253A%255B%255D"
            + "%257D",
    ])
    func `a migration is unwrapped however often it was encoded`(text: String) throws {
        let plain = text.replacing("+", with: "%2B").replacing(" ", with: "+")
        #expect(try migration("migration=\(plain)") == Migration(from: 1, tables: ["a"]))
    }

    @Test func `bracket parameters may stand in any order, with and without indices`() throws {
        let query = [
            "migration[columns][1][columns][]=d", "migration[tables]=a", "migration[from]=3",
            "migration[columns][0][table]=t0", "migration[columns][1][table]=t1", "migration[columns][1][columns][7]=e",
            "migration[columns][0][columns]=c", "migration[tables][1]=b",
        ].joined(separator: "&")
        let expected = Migration(
            from: 3, tables: ["a", "b"],
            columns: [.init(table: "t0", columns: ["c"]), .init(table: "t1", columns: ["d", "e"])])
        #expect(try migration(query) == expected)
        #expect(try migration("migration[from]=3") == Migration(from: 3))
    }

    @Test(arguments: [
        "migration=%5Bobject+Object%5D", "migration=x", "migration=1", "migration=true", "migration=[]",
        "migration=%5B%5D",
        "migration={", "migration=%22%22%22", "migration={}", #"migration={"from":1}"#,
        #"migration={"from":1,"tables":[]}"#, #"migration={"from":"1","tables":[],"columns":[]}"#,
        #"migration={"from":1.5,"tables":[],"columns":[]}"#, #"migration={"from":-1,"tables":[],"columns":[]}"#,
        #"migration={"from":1e99,"tables":[],"columns":[]}"#, #"migration={"from":null,"tables":[],"columns":[]}"#,
        #"migration={"from":1,"tables":null,"columns":[]}"#, #"migration={"from":1,"tables":["a"],"columns":{}}"#,
        #"migration={"from":1,"tables":[1],"columns":[]}"#, #"migration={"from":1,"tables":[],"columns":["c"]}"#,
        #"migration={"from":1,"tables":[],"columns":[{"table":"t"}]}"#,
        #"migration={"from":1,"tables":[],"columns":[{"table":1,"columns":[]}]}"#,
        #"migration={"from":1,"tables":[],"columns":[{"table":"t","columns":"c"}]}"#,
        #"migration={"from":1,"tables":[],"columns":[]}&migration=null"#,
        #"migration={"from":1,"tables":[],"columns":[]}&migration[from]=2"#,
        "migration[tables][]=a", "migration[from]=x", "migration[from]=1&migration[from]=1", "migration[]=1",
        "migration[from]=1&migration[tables][a]=b", "migration[from]=1&migration[columns][x][table]=t",
        "migration[from]=1&migration[columns][-1][table]=t", "migration[from]=1&migration[columns][99999999][table]=t",
        "migration[from]=1&migration[columns][0][columns][]=c", "migration[from]=1&migration[columns][0]=c",
        "migration[from]=1&migration[columns][0][table]=t&migration[columns][0][table]=u",
        "migration[from]=1&migration[tables][]=a&migration[other]=x", "migration[from=1", "migration[from]x=1",
        "migration[from]=1&migration[tables][]=",
    ])
    func `migration info that can't be read is refused, since ignoring it would lose columns for good`(query: String) {
        #expect(codeOfReading("GET", "/sync?last_pulled_at=7&\(query)") == .migration)
    }

    @Test(arguments: ["id", "_status", "_changed", "__proto__", ""])
    func `the client's own bookkeeping can't be asked for`(name: String) {
        for json in [
            #"{"from":1,"tables":["\#(name)"],"columns":[]}"#,
            #"{"from":1,"tables":[],"columns":[{"table":"t","columns":["\#(name)"]}]}"#,
            #"{"from":1,"tables":[],"columns":[{"table":"\#(name)","columns":["c"]}]}"#,
        ] {
            #expect(codeOfReading("POST", "/sync/pull", body: #"{"migration":\#(json)}"#) == .migration)
        }
    }

    @Test func `a migration may name as many tables and columns as the limit says`() throws {
        func json(_ count: Int) -> String {
            let names = (0..<count).map { #""t\#($0)""# }.joined(separator: ",")
            return #"{"migration":{"from":1,"tables":[\#(names)],"columns":[]}}"#
        }
        #expect(try read("POST", "/sync/pull", body: json(1000))?.pull?.migration?.tables.count == 1000)
        #expect(codeOfReading("POST", "/sync/pull", body: json(1001)) == .migration)
    }

    @Test func `wrapping without end is refused`() {
        var text = "null"
        for _ in 0..<6 { text = "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
        #expect(codeOfReading("POST", "/sync/pull", body: #"{"migration":\#(text)}"#) == .migration)
        let percent = "%" + String(repeating: "25", count: 10) + "7B"
        #expect(codeOfReading("GET", "/sync?migration=\(percent)") == .migration)
    }

    @Test func `what a push says of a migration means nothing`() throws {
        let body = #"{"changes":{},"migration":"[object Object]"}"#
        #expect(try read("POST", "/sync/push?migration=x", body: body)?.push != nil)
    }
}

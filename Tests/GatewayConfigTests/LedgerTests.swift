// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI
import SyncModel
import Testing

@Suite struct LedgerTests {
    @Test func `the section's keys are read with their units`() throws {
        let text = Support.minimal(
            """
            [ledger]
            mode = off
            resweep_every = 0s
            resweep_parallel = 5
            resweep_rows = 0
            rewind = 36h
            max_sweep = 100%
            max_offline = 90d
            """)
        let ledger = try #require(Support.load(text).configuration?.ledger)
        var expected = Configuration.Ledger()
        expected.mode = .off
        expected.resweepEvery = .zero
        expected.resweepParallel = 5
        expected.resweepRows = 0
        expected.rewind = .seconds(129_600)
        expected.maxSweep = 100
        expected.maxOffline = .seconds(7_776_000)
        #expect(ledger == expected)
    }

    @Test(
        arguments: [
            ("", "", true), ("", "full", true), ("", "off", false), ("full", "", true), ("full", "off", false),
            ("off", "", false), ("off", "full", true), ("off", "off", false),
        ])
    func `a table's own word counts before the section's`(section: String, table: String, isLedgered: Bool) throws {
        let text = Support.withTable(
            table.isEmpty ? [:] : ["ledger": table], more: section.isEmpty ? "" : "[ledger]\nmode = \(section)\n")
        let schema = try #require(Support.load(text).configuration?.schema)
        #expect(schema.tables.map(\.isLedgered) == [isLedgered])
    }

    @Test func `another word than full and off is a mistake at its position`() {
        let messages = Support.messages(Support.withTable(["ledger": "of"]))
        #expect(messages.map { $0.drop { $0 != " " } } == [" expected one of full, off, found 'of'"])
    }

    @Test(arguments: ["rewind = 8d\nmax_offline = 7d", "rewind = 366d", "max_offline = 6d"])
    func `what is forgotten cannot be gone back to`(lines: String) {
        let (configuration, diagnostics) = Support.load(Support.withTable(more: "[ledger]\n\(lines)\n"))
        #expect(configuration == nil)
        let sentence = #/\[ledger\] rewind \(\d+d\) is longer than max_offline \(\d+d\)/#
        #expect(diagnostics.count == 1)
        #expect(diagnostics.first?.message.wholeMatch(of: sentence) != nil)
    }

    @Test func `rewind and max_offline may be the same`() {
        #expect(Support.messages(Support.withTable(more: "[ledger]\nrewind = 30d\nmax_offline = 30d\n")) == [])
    }

    @Test(arguments: ["[ledger]\nmode = off\n", ""])
    func `rules that find records by a column are suspicious without a ledger`(section: String) throws {
        var lines = [
            "parent": "album_id albums", "delete": "AlbumDeleteV1 by albumId, OwnerGoneV1 where owner_id = id",
        ]
        if section.isEmpty { lines["ledger"] = "off" }
        let columns = "album_id = string\nowner_id = string"
        let (configuration, diagnostics) = Support.load(Support.withTable(lines, columns: columns, more: section))
        #expect(configuration != nil)
        #expect(
            diagnostics.map(\.message).sorted() == [
                "the descendants of deleted 'albums' cannot be found: table 'albums' has no ledger",
                "the records that 'OwnerGoneV1' means cannot be found: table 'albums' has no ledger",
            ])
        #expect(diagnostics.allSatisfy { $0.severity == .warning && $0.note != nil })
        lines["ledger"] = "full"
        #expect(Support.messages(Support.withTable(lines, columns: columns)) == [])
    }

    @Test func `keys that mean nothing without a ledger are named, but only where no table has one`() {
        let section = "[ledger]\nmode = off\nresweep_every = 1d\nmax_offline = 30d\n"
        #expect(
            Support.load(Support.withTable(more: section)).diagnostics.map(\.message) == [
                "'resweep_every' has no effect: no table has a ledger"
            ])
        #expect(Support.messages(Support.withTable(["ledger": "full"], more: section)) == [])
    }

    @Test func `sources beyond the 64th cannot be told apart`() {
        func text(_ count: Int) -> String {
            let numbers = (1...count).map(String.init)
            return Support.withTable([
                "request": numbers.map { "S\($0)xV1" }.joined(separator: ", "),
                "delete": numbers.map { "S\($0)xDeleteV1 by id" }.joined(separator: ", "),
            ])
        }
        #expect(Support.load(text(64)).configuration != nil)
        let (configuration, diagnostics) = Support.load(text(65))
        #expect(configuration == nil)
        #expect(
            diagnostics.filter { $0.severity == .error }.map(\.message) == [
                "table 'albums' has 65 sources, at most 64 can be told apart"
            ])
    }

    @Test func `an entry of the ledger has room for 255 links`() {
        func text(_ count: Int) -> String {
            let names = (1...count).map { "p\($0)" }
            return Support.withTable(
                ["parent": names.map { "\($0) albums" }.joined(separator: ", ")],
                columns: names.map { "\($0) = string" }.joined(separator: "\n"))
        }
        #expect(Support.messages(text(255)) == [])
        #expect(
            Support.load(text(256)).diagnostics.map(\.message) == [
                "'parent' and 'delete … where' of table 'albums' name 256 columns, at most 255 can be remembered"
            ])
    }

    @Test func `a source without delete type lasts for good where there is no ledger`() throws {
        let lines = ["request": "AlbumsV1, SharedAlbumsV1", "ledger": "off"]
        let diagnostic = try #require(Support.load(Support.withTable(lines)).diagnostics.first)
        #expect(diagnostic.message == "the source 'SharedAlbumsV1' has no delete type")
        #expect(diagnostic.hint?.hasSuffix("or for good: the table has no ledger") == true)
    }

    @Test func `a bare number as a share gets its sign as a hint`() {
        let diagnostic = Support.load(Support.withTable(more: "[ledger]\nmax_sweep = 20\n")).diagnostics.first
        #expect(diagnostic?.hint == "did you mean '20%'?")
    }
}

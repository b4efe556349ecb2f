// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel
import Testing

/// Whole diffs, pull by pull: what a device is sent, and what its ledger says afterwards.
@Suite struct LedgerDiffTests {
    typealias Bench = LedgerDiffBench

    /// Everything of these request types came.
    static func comparing(_ types: String...) -> (inout LedgerDiffPlan) -> Void { { $0.compared = Set(types) } }

    /// A reset of a cursor that is not exact.
    private func inexact(_ bench: Bench) -> LedgerDiffPlan {
        LedgerDiffPlan(basis: .principal, output: .whole, isFirst: false, isExact: false, compared: bench.types)
    }

    // Sources.

    @Test func `what came by an unknown feed goes once every feed was compared and none has it`() async throws {
        var bench = Bench(Bench.table("files", feeds: ["A", "B"]))
        _ = try await bench.pull {
            $0.row("files", "x")
            $0.row("files", "y", feed: 1)
        }
        // Another feed in the place of the first: what the masks of the entries meant is unknown.
        bench.tables = [Bench.table("files", feeds: ["C", "B"])]
        #expect(try await bench.pull(plan: Self.comparing("C")).deleted.isEmpty)
        let answer = try await bench.pull(plan: Self.comparing("B")) { $0.row("files", "y", feed: 1) }
        #expect(answer.deleted == ["files/x"])
        #expect(try await bench.holds("files", "y"))
    }

    @Test func `nothing is written of records whose feeds are unknown and whose parents are all there`() async throws {
        var bench = Bench(Bench.table("albums"), Bench.table("files", feeds: ["A", "B"], parents: ["albums"]))
        _ = try await bench.pull {
            $0.row("albums", "a")
            $0.row("albums", "b")
            for number in 0..<50 { $0.row("files", "x\(number)", in: "a") }
        }
        bench.tables[1] = Bench.table("files", feeds: ["C", "B"], parents: ["albums"])
        let before = await bench.ledger.chunks(of: bench.layers[0]).count
        _ = try await bench.pull { $0.delete("albums", "b") }
        #expect(before > 0)
        #expect(await bench.ledger.chunks(of: bench.layers[0]).map(\.table) == ["albums"])
    }

    @Test func `a line that deletes by a column takes away its own feed only if that brought nothing since`()
        async throws
    {
        var bench = Bench(Bench.table("files", feeds: ["A", "B"], whereColumns: ["owner"]))
        _ = try await bench.pull { $0.row("files", "held", in: "o") }
        let answer = try await bench.pull {
            $0.delete("files", where: 0, is: "o")
            $0.row("files", "held", in: "o", feed: 1, content: 2)
            $0.row("files", "new", in: "o", content: 2)
            $0.delete("files", where: 0, is: "o", feed: 1)
        }
        // The feed that brought it first has taken it away, then the other one too.
        #expect(answer.deleted == ["files/held"] && answer.created == ["files/new"])
        #expect(try await bench.entry("files", "new")?.feeds == 0b01)
    }

    @Test func `a feed that took a record away by a column does not hold it any more`() async throws {
        var bench = Bench(Bench.table("files", feeds: ["A", "B"], whereColumns: ["owner"]))
        _ = try await bench.pull { $0.row("files", "x", in: "o") }
        let answer = try await bench.pull {
            $0.delete("files", where: 0, is: "o")
            $0.row("files", "x", in: "o", feed: 1)
        }
        #expect(answer.deleted.isEmpty)
        #expect(try await bench.entry("files", "x")?.feeds == 0b10)
        #expect(try await bench.pull { $0.delete("files", "x", feed: 1) }.deleted == ["files/x"])
    }

    @Test func `a record stays by the feed of its unreadable line when it leaves the other one`() async throws {
        var bench = Bench(Bench.table("files", feeds: ["A", "B"], whereColumns: ["owner"]))
        _ = try await bench.pull { $0.row("files", "x", in: "o") }
        #expect(try await bench.pull { $0.damaged("files", "x", feed: 1) }.deleted.isEmpty)
        #expect(try await bench.entry("files", "x")?.feeds == 0b11)
        #expect(try await bench.pull { $0.delete("files", where: 0, is: "o") }.deleted.isEmpty)
        #expect(try await bench.pull { $0.delete("files", "x", feed: 1) }.deleted == ["files/x"])
    }

    @Test func `a record that leaves a feed stays by the feed of its unreadable line`() async throws {
        var bench = Bench(Bench.table("files", feeds: ["A", "B"], whereColumns: ["owner"]))
        _ = try await bench.pull { $0.row("files", "x", in: "o") }
        let answer = try await bench.pull {
            $0.delete("files", "x")
            $0.damaged("files", "x", feed: 1)
        }
        #expect(answer.deleted.isEmpty)
        #expect(try await bench.pull { $0.delete("files", "x", feed: 1) }.deleted == ["files/x"])
    }

    @Test(arguments: [(0, []), (1, ["A", "B"])] as [(Int, Set<String>)])
    func `a deletion behind an unreadable line is compared if the line's own feed sent it`(
        _ feed: Int, _ suspended: Set<String>
    ) async throws {
        var bench = Bench(Bench.table("files", feeds: ["A", "B"]))
        _ = try await bench.pull {
            $0.row("files", "x")
            $0.row("files", "x", feed: 1)
        }
        let answer = try await bench.pull {
            $0.damaged("files", "x", feed: 1)
            $0.delete("files", "x", feed: feed)
        }
        #expect(answer.deleted.isEmpty && answer.report.suspended == suspended)
    }

    // Absence.

    @Test func `children of a folder that went and came are looked for twice before they are deleted`() async throws {
        var bench = Bench(Bench.table("folders", parents: ["folders"]))
        _ = try await bench.pull {
            $0.row("folders", "f")
            $0.row("folders", "c", in: "f")
            $0.row("folders", "d", in: "c")
        }
        let plan = LedgerDiffPlan(basis: .cursor, output: .delta, isFirst: false)
        let regranted: (inout Bench.Stream) -> Void = {
            $0.delete("folders", "f")
            $0.row("folders", "f")
        }
        let first = try await bench.diff(plan, regranted)
        #expect(first.report.needsSecondLook)
        let second = try await bench.pull(plan: { $0.isSecondLook = true }) {
            regranted(&$0)
            $0.request()
            $0.row("folders", "c", in: "f", content: 2)
            $0.row("folders", "d", in: "c")
        }
        #expect(second.deleted.isEmpty && second.updated == ["folders/c"])
        let third = try await bench.pull { regranted(&$0) }
        #expect(third.deleted == ["folders/c", "folders/d"] && third.figures.absent == 1)
        #expect(third.figures.descendants == 1)
    }

    @Test func `tables that are each other's parents count all that would go by absence`() async throws {
        var bench = Bench(Bench.table("groups", parents: ["topics"]), Bench.table("topics", parents: ["groups"]))
        _ = try await bench.pull {
            $0.row("groups", "g")
            for number in 0..<20 {
                $0.row("topics", "t\(number)", in: "g")
                $0.row("groups", "g\(number)", in: "t\(number)")
            }
        }
        bench.limit.records = 10
        let regranted: (inout Bench.Stream) -> Void = {
            $0.delete("groups", "g")
            $0.row("groups", "g")
        }
        let answer = try await bench.pull(regranted)
        #expect(answer.deleted.isEmpty && answer.report.blocked == ["groups", "topics"])
        let accepted = try await bench.pull(plan: { $0.released = ["groups", "topics"] }, regranted)
        #expect(accepted.deleted.count == 40 && accepted.report.blocked.isEmpty)
    }

    @Test func `a deletion that a device may have missed is repeated only after a second look`() async throws {
        var bench = Bench(Bench.table("tasks"))
        _ = try await bench.pull {
            $0.row("tasks", "x")
            $0.row("tasks", "y")
        }
        _ = try await bench.pull { $0.delete("tasks", "x") }
        let plan = inexact(bench)
        #expect(try await bench.diff(plan) { $0.row("tasks", "y") }.report.needsSecondLook)
        let answer = try await bench.pull(plan: { $0 = plan }) { $0.row("tasks", "y") }
        #expect(answer.deleted == ["tasks/x"] && answer.report == LedgerDiffReport())
    }

    @Test func `a deletion that a device may have missed waits while a line cannot be read`() async throws {
        var bench = Bench(Bench.table("tasks"))
        _ = try await bench.pull {
            $0.row("tasks", "x")
            $0.row("tasks", "y")
        }
        _ = try await bench.pull { $0.delete("tasks", "x") }
        let plan = inexact(bench)
        let blind = try await bench.pull(plan: { $0 = plan }) {
            $0.row("tasks", "y")
            $0.damaged("tasks", nil)
        }
        #expect(blind.deleted.isEmpty && blind.report.suspended == ["tasks"] && blind.figures.heldBack == 1)
        // The cursor is exact from here on, and what was not told is still to be told.
        let answer = try await bench.pull(plan: Self.comparing("tasks")) { $0.row("tasks", "y") }
        #expect(answer.deleted == ["tasks/x"])
    }

    @Test func `what only a push has named as held is looked for twice, ledger or not`() async throws {
        var bench = Bench(Bench.table("tasks"))
        bench.notes = [PushNote(table: "tasks", id: "x", state: .held, sequence: 1)]
        let plan = LedgerDiffPlan(
            basis: .nothing, output: .whole, isFirst: false, isExact: false, compared: bench.types)
        #expect(try await bench.diff(plan) { $0.row("tasks", "y") }.report.needsSecondLook)
    }

    @Test(arguments: [false, true])
    func `14: a record that only a push has named is placed by the first line of it, read or not`(
        _ isDamaged: Bool
    ) async throws {
        for output in [LedgerDiffPlan.Output.delta, .whole] {
            var bench = Bench(Bench.table("files", feeds: ["A", "B"]))
            _ = try await bench.pull { $0.row("files", "other") }
            bench.notes = [PushNote(table: "files", id: "x", state: .held, sequence: 1)]
            _ = try await bench.pull { if isDamaged { $0.damaged("files", "x", feed: 1) } }
            #expect(try await bench.entry("files", "x")?.feeds == (isDamaged ? 0b10 : 0))
            bench.notes = []
            // A pull that writes everything knows no more than the one before it.
            _ = try await bench.pull(plan: { $0.output = output }) { _ in }
            if !isDamaged {
                #expect(try await bench.pull { $0.row("files", "x", feed: 1) }.updated == ["files/x"])
            }
            #expect(try await bench.pull { $0.delete("files", "x", feed: 1) }.deleted == ["files/x"])
        }
    }

    // Trust.

    @Test func `a table that was without a ledger for a while drops nothing as equal until it was compared`()
        async throws
    {
        var bench = Bench(Bench.table("tasks"))
        _ = try await bench.pull { $0.row("tasks", "x") }
        let row: (inout Bench.Stream) -> Void = { $0.row("tasks", "x") }
        #expect(try await bench.pull(plan: { $0.untracked = ["tasks"] }, row).updated == ["tasks/x"])
        #expect(try await bench.pull(row).updated.isEmpty)
    }

    @Test func `a feed that is new to a table costs no hash of what came by the others`() async throws {
        var bench = Bench(Bench.table("files", feeds: ["A"]))
        _ = try await bench.pull { $0.row("files", "x") }
        bench.tables = [Bench.table("files", feeds: ["A", "B"])]
        let answer = try await bench.pull(plan: {
            $0.compared = ["B"]
            $0.untracked = ["B"]
        }) {
            $0.row("files", "x")
            $0.row("files", "y", feed: 1)
        }
        #expect(answer.updated == ["files/y"])
        #expect(try await bench.entry("files", "x")?.content != nil)
    }

    @Test(arguments: [false, true])
    func `a comparison leaves no hash that was not to be trusted`(_ isResync: Bool) async throws {
        var bench = Bench(Bench.table("tasks"))
        _ = try await bench.pull { for number in 0..<10 { $0.row("tasks", "x\(number)") } }
        bench.limit.records = 1
        let held = try await bench.pull(plan: {
            $0.compared = ["tasks"]
            if isResync { $0.isExact = false } else { $0.untracked = ["tasks"] }
        })
        #expect(held.report.blocked == ["tasks"] && held.deleted.isEmpty)
        #expect(try await bench.entry("tasks", "x3")?.content == nil)
        #expect(try await bench.pull { $0.row("tasks", "x3") }.updated == ["tasks/x3"])
    }

    @Test func `what a first comparison finds is no gap of the stream`() async throws {
        var bench = Bench(Bench.table("tasks"))
        _ = try await bench.pull { $0.row("tasks", "x") }
        let answer = try await bench.pull(plan: {
            $0.compared = ["tasks"]
            $0.untracked = ["tasks"]
        }) {
            $0.comparison()
            $0.row("tasks", "x")
            $0.row("tasks", "y")
        }
        #expect(answer.updated == ["tasks/x", "tasks/y"] && answer.figures.repairs == 0)
    }

    // Descendants.

    @Test(arguments: [false, true])
    func `a child that came stays, whether the stream broke behind it or not`(_ isBroken: Bool) async throws {
        var bench = Bench(Bench.table("projects"), Bench.table("tasks", parents: ["projects"]))
        _ = try await bench.pull {
            $0.row("projects", "p")
            $0.row("tasks", "c", in: "p")
            $0.row("tasks", "d", in: "p")
        }
        let answer = try await bench.pull {
            $0.row("tasks", "c", in: "p", content: 2)
            if isBroken { $0.request(isResumed: true) }
            $0.delete("projects", "p")
        }
        #expect(answer.deleted == ["projects/p", "tasks/d"] && answer.updated == ["tasks/c"])
        // Whether it went while the stream was broken is for a comparison to find out.
        #expect(answer.report.suspended == (isBroken ? ["tasks"] : []))
    }

    @Test func `a child that came goes with a parent that a later request has deleted`() async throws {
        var bench = Bench(Bench.table("projects"), Bench.table("tasks", parents: ["projects"]))
        _ = try await bench.pull {
            $0.row("projects", "p")
            $0.row("tasks", "c", in: "p")
        }
        let answer = try await bench.pull {
            $0.row("tasks", "c", in: "p", content: 2)
            $0.request()
            $0.delete("projects", "p")
        }
        #expect(answer.deleted == ["projects/p", "tasks/c"] && answer.report.suspended.isEmpty)
    }

    @Test(arguments: [["projects", "tasks"], ["folders"]], [false, true])
    func `a child whose line cannot be read goes with a parent that a later request has deleted, also where all came`(
        _ names: [String], _ isLater: Bool
    ) async throws {
        let (parents, children) = (names[0], names[names.count - 1])
        let table = Bench.table(children, parents: [parents])
        var bench = names.count == 1 ? Bench(table) : Bench(Bench.table(parents), table)
        _ = try await bench.pull {
            $0.row(parents, "p")
            $0.row(children, "c", in: "p")
        }
        let answer = try await bench.pull(plan: Self.comparing(parents, children)) {
            if !isLater { $0.delete(parents, "p") }
            if isLater { $0.row(parents, "p") }
            $0.damaged(children, "c")
            if isLater { $0.request() }
            if isLater { $0.delete(parents, "p") }
        }
        // In one request the child came after its parent had gone, so it is there.
        #expect(answer.deleted == Set(["\(parents)/p"] + (isLater ? ["\(children)/c"] : [])))
    }

    @Test func `a later end of a parent reaches all that came before it, generations down`() async throws {
        var bench = Bench(Bench.table("folders", parents: ["folders"]))
        _ = try await bench.pull {
            $0.row("folders", "a")
            $0.row("folders", "b", in: "a")
            $0.row("folders", "c", in: "b")
            $0.row("folders", "d", in: "c")
        }
        let answer = try await bench.pull {
            $0.delete("folders", "b")
            $0.row("folders", "d", in: "c", content: 2)
            $0.request()
            $0.delete("folders", "a")
            $0.delete("folders", "b")
        }
        // What counts is the first line that says so: it was there although its folder had gone.
        #expect(answer.deleted == ["folders/a", "folders/b", "folders/c"])
        let deep = try await bench.pull {
            $0.row("folders", "x", in: "e")
            $0.row("folders", "e")
            $0.row("folders", "y", in: "x")
            $0.request()
            $0.delete("folders", "e")
        }
        #expect(deep.created.isEmpty && deep.deleted.isEmpty)
    }

    @Test func `a deep tree goes in as many walks as a flat one`() async throws {
        var walks: [Int] = []
        for isDeep in [false, true] {
            var bench = Bench(Bench.table("replies", parents: ["replies"]))
            _ = try await bench.pull {
                $0.row("replies", "r0")
                for number in 1...500 { $0.row("replies", "r\(number)", in: isDeep ? "r\(number - 1)" : "r0") }
            }
            await bench.ledger.forgetCounts()
            let answer = try await bench.pull { $0.delete("replies", "r0") }
            #expect(answer.deleted.count == 501)
            walks.append(await bench.ledger.walks)
        }
        #expect(walks[0] == walks[1])
    }

    @Test func `a deletion of what nobody here has ever had looks at no children`() async throws {
        var bench = Bench(
            Bench.table("albums", parents: ["albums"]), Bench.table("files", parents: ["albums"]))
        _ = try await bench.pull {
            $0.row("albums", "a", in: "")
            for number in 0..<100 { $0.row("files", "f\(number)", in: "a") }
        }
        await bench.ledger.forgetCounts()
        let answer = try await bench.pull {
            for number in 0..<50 { $0.delete("albums", "unknown\(number)") }
        }
        #expect(answer.deleted.isEmpty)
        #expect(await bench.ledger.tablesRead == ["albums"])
    }

    @Test func `a child that came is compared again if its parent is missing`() async throws {
        var bench = Bench(Bench.table("albums"), Bench.table("files", parents: ["albums"]))
        _ = try await bench.pull {
            $0.row("albums", "a")
            $0.row("files", "f", in: "a")
        }
        let answer = try await bench.pull(
            plan: { ($0.compared, $0.isSecondLook) = (["albums", "files"], true) }
        ) {
            $0.row("files", "f", in: "a")
        }
        #expect(answer.deleted == ["albums/a"])
        #expect(answer.report.suspended == ["files"])
    }

    @Test func `a parent without a ledger that went and came again takes nothing along`() async throws {
        var albums = Bench.table("albums")
        albums.isLedgered = false
        var bench = Bench(albums, Bench.table("files", parents: ["albums"]))
        _ = try await bench.pull { $0.row("files", "f", in: "a") }
        let answer = try await bench.pull {
            $0.delete("albums", "a")
            $0.row("albums", "a")
        }
        #expect(answer.deleted.isEmpty)
    }

    @Test(arguments: [false, true])
    func `if the earlier content is unknown, every deletion of a parent counts`(_ isLedgered: Bool) async throws {
        var albums = Bench.table("albums")
        albums.isLedgered = isLedgered
        var bench = Bench(albums, Bench.table("files", parents: ["albums"]))
        _ = try await bench.pull { $0.row("files", "f", in: "a") }
        let answer = try await bench.pull(plan: { if isLedgered { $0.untracked = ["albums"] } }) {
            $0.delete("albums", "a")
        }
        #expect(answer.deleted == ["albums/a", "files/f"])
    }
}

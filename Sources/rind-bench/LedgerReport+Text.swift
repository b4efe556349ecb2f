// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

// The report for reading.
extension LedgerReport {
    /// The tables and their sentences.
    var text: String {
        var lines = [
            "Ledger: \(Text.grouped(rows)) rows, \(firstSyncs.full.count) first syncs each, in turns; "
                + "\(pulls.first?.pulls.count ?? 0) pulls of \(changes) changes each, in turns",
            machine.sentence, "", firstSyncTable, "", pullTable, "",
            "A first sync is one of a fresh process with an empty state; ratios are of one run. What a small pull "
                + "reads and writes is all that the gateway reads and writes: state, log and sockets. The slowest one "
                + "of each replica brings the layers of the earlier ones into the base.", "",
        ]
        for verdict in verdicts {
            let mark = isJudged ? (verdict.isKept ? "kept  " : "MISSED") : "      "
            lines.append("\(mark)  \(verdict.sentence)")
        }
        if isJudged { lines += outcomes.map(\.sentence) }
        return lines.joined(separator: "\n")
    }

    private var firstSyncTable: String {
        var table = [
            ["first sync", "wall s", "", "", "CPU s", "", "", "peak MiB"],
            ["", "min", "median", "max", "min", "median", "max", "median"],
        ]
        let missing = ["-", "-", "-"]
        for (name, syncs) in [("full", firstSyncs.full), ("off", firstSyncs.off)] {
            let peak = Spread(syncs.compactMap(\.peakResidentBytes).map { Double($0) / 0x1p20 })
            let wall = Spread(syncs.map(\.wallSeconds))?.cells(2)
            let processor = Spread(syncs.compactMap(\.processorSeconds))?.cells(2)
            table.append(
                ["mode = \(name)"] + (wall ?? missing) + (processor ?? missing)
                    + [peak.map { Text.number($0.median, 0) } ?? "-"])
        }
        table.append(
            ["full to off"] + (firstSyncs.ratios(\.wallSeconds)?.cells(2) ?? missing)
                + (firstSyncs.ratios(\.processorSeconds)?.cells(2) ?? missing)
                + [firstSyncs.moreMemory.map { "+" + Text.number($0.median / 0x1p20, 0) } ?? "-"])
        return Text.table(table)
    }

    private var pullTable: String {
        var table = [
            ["\(changes) changes", "wall ms", "", "", "CPU ms", "read KiB", "", "", "written KiB"],
            ["", "min", "median", "max", "mean", "min", "median", "max", "median"],
        ]
        let missing = ["-", "-", "-"]
        for replica in pulls {
            let wall = Spread(replica.pulls.map { $0.wallSeconds * 1e3 })
            let read = Spread(replica.pulls.compactMap(\.bytesRead).map { Double($0) / 1024 })
            let written = Spread(replica.pulls.compactMap(\.bytesWritten).map { Double($0) / 1024 })
            // Processor time is counted in steps of 10 ms, so only the sum means something.
            let processor = replica.pulls.compactMap(\.processorSeconds)
            let mean = processor.isEmpty ? nil : processor.reduce(0, +) / Double(processor.count) * 1e3
            table.append(
                ["of \(Text.grouped(replica.rows))"] + (wall?.cells(1) ?? missing)
                    + [mean.map { Text.number($0, 1) } ?? "-"] + (read?.cells(0) ?? missing)
                    + [written.map { Text.number($0.median, 0) } ?? "-"])
        }
        return Text.table(table)
    }
}

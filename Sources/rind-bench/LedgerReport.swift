// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The figures that ``Ledger`` has measured.
struct LedgerReport: Report, Codable {
    /// The most that the ledger may cost.
    enum Bound {
        /// The time of a first sync with a ledger, divided by that of one without.
        static let firstSync = 1.15
        /// The ratio that every first sync should reach; the bound of their median leaves room for noise.
        static let firstSyncGoal = 1.1
        /// The additional memory of a first sync with a ledger, in bytes.
        static let memory = 64 << 20
        /// The time of a small pull of a large replica, divided by that of a small replica; equal except for noise.
        static let pull = 1.25
        /// The most that a small pull reads, in pages for each change.
        static let pagesPerChange = 20
        /// The bytes of a record, without links and with them.
        static let plainBytes = 26.0
        static let linkedBytes = 36.0
    }

    /// One first sync of a fresh gateway.
    struct FirstSync: Codable {
        var wallSeconds: Double
        var answerBytes: Int
        var processorSeconds: Double?
        var peakResidentBytes: Int?
    }

    /// First syncs with and without a ledger; those with the same index were made one after the other.
    struct FirstSyncs: Codable {
        var full: [FirstSync] = []
        var off: [FirstSync] = []

        /// Returns a figure with a ledger divided by the one without, pair by pair.
        func ratios(_ figure: (FirstSync) -> Double?) -> Spread? {
            Spread(zip(full, off).compactMap { full, off in figure(full).flatMap { a in figure(off).map { a / $0 } } })
        }

        /// The additional bytes at the peak of resident memory, pair by pair.
        var moreMemory: Spread? {
            Spread(
                zip(full, off).compactMap { full, off in
                    full.peakResidentBytes.flatMap { a in off.peakResidentBytes.map { Double(a - $0) } }
                })
        }
    }

    /// One small pull.
    struct Pull: Codable {
        var wallSeconds: Double
        var processorSeconds: Double?
        /// All bytes that the gateway read and wrote by system calls: state, sockets, files.
        var bytesRead: Int?
        var bytesWritten: Int?
    }

    /// The small pulls of one replica.
    struct Replica: Codable {
        var rows: Int
        var pulls: [Pull]
    }

    /// The growth of the state file.
    struct Size: Codable {
        var ids: AssetStream.IDs
        var isLinked: Bool
        var records: Int
        var bytes: Int

        var perRecord: Double { Double(bytes) / Double(max(records, 1)) }
        var bound: Double { isLinked ? Bound.linkedBytes : Bound.plainBytes }
    }

    var scenario = "Ledger"
    var rows: Int
    var changes: Int
    var machine: Machine
    /// True if figures are compared with their bounds.
    var isJudged: Bool
    var firstSyncs = FirstSyncs()
    /// The large replica, then the small one.
    var pulls: [Replica] = []
    var sizes: [Size] = []

    init(rows: Int, changes: Int, machine: Machine, isJudged: Bool) {
        self.rows = rows
        self.changes = changes
        self.machine = machine
        self.isJudged = isJudged
    }

    /// The median time of a small pull of the large replica, divided by that of the small one.
    var pullRatio: Double? {
        let medians = pulls.compactMap { Spread($0.pulls.map(\.wallSeconds))?.median }
        return medians.count == 2 ? medians[0] / medians[1] : nil
    }

    /// The median number of pages of 4 KiB that a small pull of the large replica reads at most.
    var pagesRead: Double? {
        pulls.first.flatMap { Spread($0.pulls.compactMap(\.bytesRead).map { Double($0) / 4096 })?.median }
    }

    /// The comparisons with bounds and their results, without figures that the system does not report.
    var verdicts: [(sentence: String, isKept: Bool)] {
        var verdicts: [(String, Bool)] = []
        if let ratio = firstSyncs.ratios(\.wallSeconds)?.median {
            let sentence = "a first sync takes \(Text.number(ratio, 2)) times as long as without a ledger"
            verdicts.append(("\(sentence); bound \(Bound.firstSync)", ratio <= Bound.firstSync))
        }
        if let more = firstSyncs.moreMemory?.median {
            let sentence = "it takes \(Text.number(more / 0x1p20, 0)) MiB more memory"
            verdicts.append(("\(sentence); bound \(Bound.memory >> 20)", more <= Double(Bound.memory)))
        }
        if let ratio = pullRatio {
            let sentence = "a small pull of the large replica takes \(Text.number(ratio, 2)) times as long"
            verdicts.append(("\(sentence); bound \(Bound.pull)", ratio <= Bound.pull))
        }
        if let pages = pagesRead {
            let bound = Bound.pagesPerChange * changes
            let sentence = "it reads \(Text.number(pages, 0)) pages, sockets included"
            verdicts.append(("\(sentence); bound \(bound)", pages <= Double(bound)))
        }
        for size in sizes {
            let name = "\(size.ids.rawValue) ids\(size.isLinked ? " with parent and sources" : "")"
            let sentence = "\(name): \(Text.number(size.perRecord, 1)) bytes a record in the state file"
            verdicts.append(("\(sentence); bound \(Text.number(size.bound, 0))", size.perRecord <= size.bound))
        }
        return verdicts
    }

    /// The figure that has a goal of its own, below its bound.
    var outcomes: [Outcome] {
        let ratios = firstSyncs.ratios(\.wallSeconds)
        return [
            Outcome("first sync: time with a ledger to without", ratios, goal: .always(atMost: Bound.firstSyncGoal))
        ]
        .compactMap(\.self)
    }

    /// True if every bound was kept; nil if no figure was compared with one.
    var isWithinBounds: Bool? { isJudged ? verdicts.allSatisfy(\.isKept) : nil }
}

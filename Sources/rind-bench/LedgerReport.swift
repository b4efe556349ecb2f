// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What ``Ledger`` has measured.
struct LedgerReport: Codable {
    /// What the ledger may cost.
    enum Bound {
        /// The time of a first sync with a ledger, by that of one without.
        static let firstSync = 1.15
        /// How much more memory it takes, in bytes.
        static let memory = 64 << 20
        /// The time of a small pull of a large replica, by that of a small replica; equal but for noise.
        static let pull = 1.25
        /// What a small pull reads at the most, in pages for each change.
        static let pagesPerChange = 20
        /// Bytes a record, without links and with them.
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

    /// First syncs with and without a ledger; those with the same number were made one after the other.
    struct FirstSyncs: Codable {
        var full: [FirstSync] = []
        var off: [FirstSync] = []

        /// A figure with a ledger by the one without, pair by pair.
        func ratios(_ figure: (FirstSync) -> Double?) -> Spread? {
            Spread(zip(full, off).compactMap { full, off in figure(full).flatMap { a in figure(off).map { a / $0 } } })
        }

        /// How many more bytes were resident at the most, pair by pair.
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
        /// All that the gateway asked the system for and gave it: state, sockets, files.
        var bytesRead: Int?
        var bytesWritten: Int?
    }

    /// The small pulls of one replica.
    struct Replica: Codable {
        var rows: Int
        var pulls: [Pull]
    }

    /// By how much the state file has grown.
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
    /// Whether figures are held against their bounds.
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

    /// The time of a small pull of the large replica by that of the small one, by their medians.
    var pullRatio: Double? {
        let medians = pulls.compactMap { Spread($0.pulls.map(\.wallSeconds))?.median }
        return medians.count == 2 ? medians[0] / medians[1] : nil
    }

    /// How many pages of 4 KiB a small pull of the large replica reads at the most; the median.
    var pagesRead: Double? {
        pulls.first.flatMap { Spread($0.pulls.compactMap(\.bytesRead).map { Double($0) / 4096 })?.median }
    }

    /// What was held against a bound, and whether it kept it; without what the system does not tell.
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

    /// Whether everything has kept its bound; nil where nothing was held against one.
    var isWithinBounds: Bool? { isJudged ? verdicts.allSatisfy(\.isKept) : nil }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A run of complete lines, with the offset at which each ends.
struct StreamLines: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var ends: [Int] = []
    /// The number of lines of each type, without bulk rows.
    private(set) var types: [String: Int] = [:]

    var count: Int { ends.count }

    init() {}

    /// Creates a copy of some lines of another run.
    init(copying other: StreamLines, _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        let start = range.lowerBound == 0 ? 0 : other.ends[range.lowerBound - 1]
        bytes = Array(other.bytes[start..<other.ends[range.upperBound - 1]])
        ends = other.ends[range].map { $0 - start }
    }

    /// Changes bytes without changing their number.
    mutating func patch(_ body: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        bytes.withUnsafeMutableBufferPointer { body($0) }
    }

    /// Adds a line, with its members in the order that they have on the wire.
    mutating func append(type: String, data: DemoMembers, ack: String) {
        bytes.append(contentsOf: #"{"type":"#.utf8)
        DemoValue.write(type, to: &bytes)
        bytes.append(contentsOf: #","data":"#.utf8)
        DemoValue.write(data, to: &bytes)
        bytes.append(contentsOf: #","ack":"#.utf8)
        DemoValue.write(ack, to: &bytes)
        bytes.append(contentsOf: "}\n".utf8)
        ends.append(bytes.count)
        types[type, default: 0] += 1
    }

    /// Adds whole lines.
    mutating func append(_ other: StreamLines) {
        if ends.isEmpty { return self = other }
        let offset = bytes.count
        bytes.append(contentsOf: other.bytes)
        ends.append(contentsOf: other.ends.map { $0 + offset })
        types.merge(other.types) { $0 + $1 }
    }

    /// The lines one by one, each with its line feed.
    var lines: [ArraySlice<UInt8>] {
        zip([0] + ends, ends).map { bytes[$0..<$1] }
    }
}

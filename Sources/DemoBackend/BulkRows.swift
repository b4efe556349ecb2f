// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Rows of the request type `BulkTasksV1`, made while they are sent and without the database, for measurements.
///
/// A line has about 630 bytes and the members of `TaskV2`. The tokens hold the row's number, so a stream can go on
/// anywhere.
enum BulkRows {
    static let request = "BulkTasksV1"
    static let lineType = "BulkTaskV1"
    static let rowsPerChunk = 200

    /// Returns the number of the row after a checkpoint.
    static func next(after id: String?) throws -> Int {
        guard let id else { return 0 }
        guard let number = Int(id.suffix(12), radix: 16) else { throw DemoError.internal("no row in \(id)") }
        return number + 1
    }

    /// Returns the rows from a row to the end of its chunk, or to the last row.
    static func chunk(from row: Int, of count: Int) -> Range<Int> {
        row..<max(row, min((row / rowsPerChunk + 1) * rowsPerChunk, count))
    }

    /// Returns the lines of rows that lie in one chunk: a copy of the template with the rows' numbers written into it.
    static func lines(_ rows: Range<Int>) -> StreamLines {
        let offset = rows.lowerBound % rowsPerChunk
        let slots = offset..<(offset + rows.count)
        var lines = StreamLines(copying: template.lines, slots)
        let start = offset == 0 ? 0 : template.lines.ends[offset - 1]
        lines.patch { bytes in
            for (slot, row) in zip(slots, rows) {
                for offset in template.offsets[slot] { write(row, at: offset - start, in: bytes) }
            }
        }
        return lines
    }

    private struct Template: Sendable {
        var lines = StreamLines()
        /// The offsets of each row's number, which is written in twelve hexadecimal digits.
        var offsets: [[Int]] = []
    }

    /// A chunk of lines whose rows all have the number 0; they have sixteen different texts, so that not all are alike.
    private static let template: Template = {
        var template = Template()
        let mark = Array("000000000000".utf8)
        for number in 0..<rowsPerChunk {
            let start = template.lines.bytes.count
            appendLine(number % 16, to: &template.lines)
            let bytes = template.lines.bytes
            template.offsets.append((start..<bytes.count).filter { bytes[$0...].starts(with: mark) })
        }
        return template
    }()

    private static func appendLine(_ number: Int, to lines: inout StreamLines) {
        let id = "018f3a5e-b01d-7000-8000-000000000000"
        lines.append(
            type: lineType,
            data: [
                ("id", .string(id)), ("projectId", .string("018f3a5e-0001-7000-8000-00000000000\(1 + number % 9)")),
                ("name", .string(words(number + 7, count: 6))), ("position", .number(Double(number) * 1.5)),
                ("isDone", .bool(number.isMultiple(of: 3))),
                ("note", .string(words(number, count: 37 + number % 5))),
                ("createdAt", "2026-01-02T03:04:05.678Z"), ("updatedAt", "2026-02-03T04:05:06.789Z"),
                ("dueAt", number.isMultiple(of: 2) ? .null : "2026-12-24T18:00:00.000Z"), ("version", .string(id)),
            ],
            ack: "\(lineType)|\(id)")
    }

    private static func words(_ seed: Int, count: Int) -> String {
        let vocabulary = [
            "paint", "the", "fence", "call", "Größe", "before", "noon", "order", "two", "boxes", "of", "screws",
            "東京", "check", "invoice", "and", "send", "it",
        ]
        return (0..<count).map { vocabulary[(seed * 5 + $0 * 7) % vocabulary.count] }.joined(separator: " ")
    }

    private static func write(_ number: Int, at offset: Int, in bytes: UnsafeMutableBufferPointer<UInt8>) {
        for index in 0..<12 {
            let digit = UInt8(truncatingIfNeeded: number >> ((11 - index) * 4)) & 15
            bytes[offset + index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
    }
}

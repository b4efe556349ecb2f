// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Rows of the request type `BulkTasksV1`: made while they are sent, without the database, for measuring.
///
/// About 630 bytes a line, the members of `TaskV2`. The tokens hold the row's number, so a stream goes on anywhere.
enum BulkRows {
    static let request = "BulkTasksV1"
    static let lineType = "BulkTaskV1"
    static let rowsPerChunk = 200

    /// The number of the row after a checkpoint.
    static func next(after id: String?) throws -> Int {
        guard let id else { return 0 }
        guard let number = Int(id.suffix(12), radix: 16) else { throw DemoError.internal("no row in \(id)") }
        return number + 1
    }

    /// The lines of these rows.
    static func lines(_ rows: Range<Int>) -> StreamLines {
        var lines = StreamLines()
        for row in rows {
            var line = templates[row % templates.count]
            let digits = hexDigits(of: row)
            for place in line.places { line.bytes.replaceSubrange(place..<place + 12, with: digits) }
            lines.append(line: line.bytes)
        }
        return lines
    }

    private struct Template: Sendable {
        var bytes: [UInt8]
        /// Where the row's number stands, in twelve hexadecimal digits.
        let places: [Int]
    }

    private static let mark = Array("000000000000".utf8)

    /// Sixteen different texts, so that the lines are not all alike.
    private static let templates: [Template] = (0..<16).map { number in
        var lines = StreamLines()
        let note = words(number, count: 34 + number % 5)
        let id = "018f3a5e-b01d-7000-8000-000000000000"
        lines.append(
            type: lineType,
            data: [
                ("id", .string(id)), ("projectId", .string("018f3a5e-0001-7000-8000-00000000000\(1 + number % 9)")),
                ("name", .string(words(number + 7, count: 6))), ("position", .number(Double(number) * 1.5)),
                ("isDone", .bool(number.isMultiple(of: 3))), ("note", .string(note)),
                ("createdAt", "2026-01-02T03:04:05.678Z"), ("updatedAt", "2026-02-03T04:05:06.789Z"),
                ("dueAt", number.isMultiple(of: 2) ? .null : "2026-12-24T18:00:00.000Z"), ("version", .string(id)),
            ],
            ack: "\(lineType)|\(id)")
        let places = lines.bytes.indices.filter { lines.bytes[$0...].starts(with: mark) }
        return Template(bytes: lines.bytes, places: places)
    }

    private static func words(_ seed: Int, count: Int) -> String {
        let vocabulary = [
            "paint", "the", "fence", "call", "Größe", "before", "noon", "order", "two", "boxes", "of", "screws",
            "東京", "check", "invoice", "and", "send", "it",
        ]
        return (0..<count).map { vocabulary[(seed * 5 + $0 * 7) % vocabulary.count] }.joined(separator: " ")
    }

    private static func hexDigits(of number: Int) -> [UInt8] {
        (0..<12).map { place in
            let digit = UInt8(truncatingIfNeeded: number >> ((11 - place) * 4)) & 15
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
    }
}

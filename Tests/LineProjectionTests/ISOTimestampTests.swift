// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import LineProjection
import SyncModel
import Testing

@Suite struct ISOTimestampTests {
    static func milliseconds(_ text: String) -> Int64? {
        Array(text.utf8).withUnsafeBytes { ISOTimestamp.milliseconds(of: $0) }
    }

    @Test(
        arguments: [
            ("1970-01-01", 0), ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.001Z", 1),
            ("1969-12-31T23:59:59.999Z", -1), ("2026-01-02T03:04:05.678Z", 1_767_323_045_678),
            ("2026-01-02t03:04:05.678z", 1_767_323_045_678), ("2026-01-02 03:04:05.678", 1_767_323_045_678),
            ("2026-01-02T03:04:05.678901234Z", 1_767_323_045_678), ("2026-01-02T03:04:05.6Z", 1_767_323_045_600),
            ("2026-01-02T03:04:05,67Z", 1_767_323_045_670), ("2026-01-02T03:04:05Z", 1_767_323_045_000),
            ("2026-01-02T03:04Z", 1_767_323_040_000), ("2026-01-02T05:04:05+02:00", 1_767_323_045_000),
            ("2026-01-01T21:34:05-0530", 1_767_323_045_000), ("2026-01-02T05:04:05.000+02", 1_767_323_045_000),
            ("2026-01-02T24:00:00Z", 1_767_398_400_000), ("2016-12-31T23:59:60Z", 1_483_228_800_000),
            ("2016-12-31T23:59:60.5Z", 1_483_228_800_000), ("2024-02-29", 1_709_164_800_000),
            ("2000-02-29", 951_782_400_000), ("0001-01-01", -62_135_596_800_000),
            ("+275760-09-13", 8_640_000_000_000_000),
            ("-271821-04-20", -8_640_000_000_000_000), ("0000-03-01", -62_162_035_200_000),
        ] as [(String, Int64)])
    func `ISO 8601 becomes milliseconds`(text: String, milliseconds: Int64) {
        #expect(Self.milliseconds(text) == milliseconds)
    }

    @Test(arguments: [
        "", "2026", "2026-01", "2026-1-2", "20260102", "2026-13-01", "2026-00-01", "2026-01-32", "2026-01-00",
        "2023-02-29", "1900-02-29", "2026-04-31", "2026-01-02T", "2026-01-02T3:04", "2026-01-02T03",
        "2026-01-02T25:00Z",
        "2026-01-02T24:00:01Z", "2026-01-02T03:60Z", "2026-01-02T03:04:61Z", "2026-01-02T03:04:05.Z", "2026-01-02Z",
        "2026-01-02T03:04:05ZZ", "2026-01-02T03:04:05+", "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+02:60",
        "2026-01-02T03:04:05  +02:00", "-000000-01-01", "+275760-09-14", "infinity", "2026-01-02T03:04:05.678Z ",
        " 2026-01-02", "2026/01/02", "02.01.2026", "1767323045678", "2026-01-0２",
    ])
    func `what is no point in time is none`(text: String) {
        #expect(Self.milliseconds(text) == nil)
    }

    @Test func `the two common spellings are read as the rarer ones are`() {
        var random = SeededGenerator(seed: 6)
        let samples = ["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05Z"].map { Array($0.utf8) }
        for _ in 0..<200_000 {
            var text = samples[Int.random(in: 0...1, using: &random)]
            for place in text.indices.dropLast() where (0x30...0x39).contains(text[place]) {
                text[place] = 0x30 + UInt8.random(in: 0...(place == 5 || place == 8 ? 1 : 9), using: &random)
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                let place = Int.random(in: 0..<text.count - 1, using: &random)
                text[place] = UInt8.random(in: 0...255, using: &random)
            }
            let common = text.withUnsafeBytes { ISOTimestamp.milliseconds(of: $0) }
            let rarer = (text.dropLast() + Array("+00:00".utf8)).withUnsafeBytes { ISOTimestamp.milliseconds(of: $0) }
            #expect(common == rarer, "\(String(decoding: text, as: UTF8.self))")
        }
    }

    @Test func `random points in time agree with Foundation`() {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            // Foundation switches to the Julian calendar before 1582.
            let milliseconds = Int64.random(in: -12_000_000_000_000...200_000_000_000_000, using: &random)
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
            guard let parsed = Self.milliseconds(text) else {
                Issue.record("\(text)")
                continue
            }
            // The formatter cuts where the double is a hair below the millisecond.
            #expect(abs(parsed - milliseconds) <= 1, "\(text)")
        }
    }
}

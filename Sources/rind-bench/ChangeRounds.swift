// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Holds the streams of backends in which a few rows have changed, ready to be sent.
///
/// Making lines takes longer than sending them, and a backend that is measured with must not be what limits. So a number
/// of rounds is made once, each with other rows, and only the round's number is written into them when they are sent: no
/// two streams change a row in the same way.
struct ChangeRounds: Sendable {
    private struct Round {
        var bytes: ByteBuffer
        /// The offsets of the number in the bytes.
        var offsets: [Int] = []
    }

    /// The most rounds that change other rows than the ones before them.
    private static let made = 256

    private let rounds: [Round]

    /// Makes the rounds of a stream; with no changes, a round is the complete line alone.
    init(_ source: AssetStream, changes: Int) {
        guard changes > 0 else {
            rounds = [Round(bytes: ByteBuffer(string: AssetStream.nothing))]
            return
        }
        rounds = (0..<Self.made).map { number in
            var round = Round(bytes: source.changes(changes, round: number))
            let view = round.bytes.readableBytesView
            var start = view.startIndex
            while let found = view[start...].firstRange(of: AssetStream.roundMark) {
                round.offsets.append(found.upperBound)
                start = found.upperBound
            }
            return round
        }
    }

    /// Returns the stream of a round.
    func stream(_ number: Int) -> ByteBuffer {
        let round = rounds[number % rounds.count]
        guard !round.offsets.isEmpty else { return round.bytes }
        var bytes = round.bytes
        let digits = AssetStream.roundDigits(number)
        for offset in round.offsets { bytes.setBytes(digits, at: offset) }
        return bytes
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The random faults of calls about single records.
///
/// The fault of a call follows from the seed, its content and the number of times that the same call came before, and
/// so not from the order in which parallel calls arrive. Streams, acks and accounts are left alone.
package struct RandomFaults: Sendable {
    /// The kinds of random faults.
    package enum Way: Hashable, CaseIterable, Sendable {
        /// The call is not carried out, and the answer is a 500, 502 or 504.
        case refuse
        /// The call is not carried out, and the answer is a 429 or 503.
        case putOff
        /// The call is carried out, and the answer is a 500, 502 or 504.
        case refuseAfterwards
        /// The call is not carried out, and there is no answer.
        case loseRequest
        /// The call is carried out, and there is no answer.
        case loseAnswer
        /// The call is carried out late.
        case late
    }

    /// The seed of the random numbers; the same seed lets the same calls fail.
    package var seed: UInt64
    /// The share of calls that go wrong, from 0 to 1.
    package var probability: Double
    /// The kinds of faults, each as likely as the others.
    package var ways: [Way]
    /// The delay of a late call in milliseconds, usually more than its client waits.
    package var delay: Int

    /// Creates random faults of a seed.
    package init(seed: UInt64, probability: Double, ways: [Way] = Way.allCases, delay: Int = 400) {
        self.seed = seed
        self.probability = probability
        self.ways = ways
        self.delay = delay
    }

    /// Returns true if a request may go wrong: one about records of a table.
    func concern(_ request: DemoRequest) -> Bool {
        request.path.split(separator: "/").first.flatMap { Entity.named($0) } != nil
    }

    func action(for content: String, occurrence: Int) -> DemoFault.Action? {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in content.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash ^= seed &* 0xd129_0d3a_f6b9_4b21
        var random = SplitMix64(state: hash &+ UInt64(occurrence) &* 0x2545_f491_4f6c_dd1d)
        guard Double.random(in: 0..<1, using: &random) < probability else { return nil }
        let isEven = random.next() % 2 == 0
        let status = [500, 502, 504][Int(random.next() % 3)]
        switch ways.randomElement(using: &random) {
        case nil: return nil
        case .refuse?: return .status(status)
        case .putOff?: return isEven ? .status(429, retryAfter: 0) : .status(503)
        case .refuseAfterwards?: return .statusAfterwards(status)
        case .loseRequest?: return .loseRequest
        case .loseAnswer?: return .loseAnswer
        case .late?: return .delay(delay)
        }
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How much is soaked, from the environment.
enum SoakSettings {
    private static let environment = ProcessInfo.processInfo.environment

    /// What everything follows from: `RIND_TEST_SEED`.
    static let seed = environment["RIND_TEST_SEED"].flatMap { UInt64($0) } ?? 1
    /// How many requests are sent: `RIND_TEST_MUTATIONS`.
    static let mutations = environment["RIND_TEST_MUTATIONS"].flatMap { Int($0) } ?? 1_000
    /// The one request that is played again: `RIND_TEST_MUTATION`.
    static let mutation = environment["RIND_TEST_MUTATION"].flatMap { Int($0) }
    /// Whether the flood is let loose: `RIND_TEST_FLOOD=1`.
    static let isFlooding = environment["RIND_TEST_FLOOD"] == "1"
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How much is soaked, from the environment.
enum SoakSettings {
    private static let environment = ProcessInfo.processInfo.environment

    /// How many damaged requests are sent in all: `RIND_TEST_MUTATIONS`.
    private static let mutations = environment["RIND_TEST_MUTATIONS"].flatMap { Int($0) } ?? 1_000
    /// How many requests one gateway gets at most.
    ///
    /// Later ones of a course take longer: a pull with a damaged cursor reads all that earlier ones have left of its
    /// principal.
    private static let longest = 100_000

    /// How many requests each course has.
    static let requests = min(mutations, longest)
    /// What each course follows from: `RIND_TEST_SEED`, and one more for each further course.
    static let seeds = (0..<UInt64((mutations + longest - 1) / longest))
        .map { (environment["RIND_TEST_SEED"].flatMap { UInt64($0) } ?? 1) + $0 }
    /// The one request that is played again: `RIND_TEST_MUTATION`.
    static let mutation = environment["RIND_TEST_MUTATION"].flatMap { Int($0) }
    /// How many gateways are killed under load, for each way to push: `RIND_TEST_KILLS`.
    static let kills = environment["RIND_TEST_KILLS"].flatMap { Int($0) } ?? 5
    /// How many users have four devices each meanwhile.
    static let killUsers = kills > 5 ? 16 : 6
    /// How many courses three gateways on one state have: `RIND_TEST_CHAOS`, from `RIND_TEST_SEED` on.
    static let chaosSeeds = (0..<(environment["RIND_TEST_CHAOS"].flatMap { UInt64($0) } ?? 2))
        .map { (environment["RIND_TEST_SEED"].flatMap { UInt64($0) } ?? 1) + $0 }
    /// The time after which no further course begins: `RIND_TEST_CHAOS_SECONDS`; an hour if it is not set.
    static let chaosTime = Duration.seconds(environment["RIND_TEST_CHAOS_SECONDS"].flatMap { Int64($0) } ?? 3_600)
    /// Whether the flood is let loose: `RIND_TEST_FLOOD=1`.
    static let isFlooding = environment["RIND_TEST_FLOOD"] == "1"
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModel
import Testing

/// Random ledgers against dictionaries; `RIND_TEST_SEEDS` says how many.
@Suite struct LedgerModelTests {
    static let seeds = UInt64(ProcessInfo.processInfo.environment["RIND_TEST_SEEDS"] ?? "") ?? 40

    @Test(arguments: 0..<seeds)
    func `every cursor sees what it ought to, whatever is being compacted`(seed: UInt64) async throws {
        var model = await LedgerModel(seed: seed)
        try await model.check("seed \(seed), start")
        for step in 0..<14 {
            let context = "seed \(seed), step \(step)"
            switch Int.random(in: 0..<8, using: &model.random) {
            case 0...3: model.line.append(await model.child(of: model.line[model.line.count - 1]))
            case 4:
                let parent = Int.random(in: 0..<model.line.count, using: &model.random)
                model.siblings.append((parent, await model.child(of: model.line[parent])))
            default: try await model.compact(context)
            }
            try await model.check(context)
        }
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway

/// Collects an answer, at once or like a client that takes its time.
final class CollectedAnswer: AnswerSink {
    let isCompressed = false
    private(set) var bytes: [UInt8] = []
    private let isSlow: Bool

    init(isSlow: Bool) { self.isSlow = isSlow }

    func waitForRoom(for patience: Duration?) async throws -> Bool {
        await Task.yield()
        return !isSlow || patience == nil
    }

    func write(_ piece: [UInt8]) async throws {
        await Task.yield()
        bytes += piece
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The texts that are refused until a test or a user with curl removes them.
struct Rejections: Sendable {
    /// Records by their ids, or by the id that a client has made.
    var ids: Set<String> = []
    /// Records by what is in one of the strings that are written.
    var texts: Set<String> = []

    /// Returns the first of the texts, in their order, that stands in a member.
    func text(in data: [String: DemoValue]) -> String? {
        texts.sorted().first { text in data.values.contains { $0.string?.contains(text) == true } }
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The ids and texts that are refused permanently, until a test or a user with curl allows them again.
struct Rejections: Sendable {
    /// The ids of records that are refused, or the ids that a client has given them.
    var ids: Set<String> = []
    /// The texts that are refused in any string that is written.
    var texts: Set<String> = []

    /// Returns the first of the texts, in alphabetical order, that occurs in a member.
    func text(in data: [String: DemoValue]) -> String? {
        texts.sorted().first { text in data.values.contains { $0.string?.contains(text) == true } }
    }
}

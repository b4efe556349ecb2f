// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Finds the known name that the user probably meant.
package enum NearestName {
    /// Returns the candidate with the fewest edits; nil if even that one is too different to be helpful.
    ///
    /// One edit is a letter added, left out, replaced or swapped with its neighbour; names may differ by a third of
    /// their letters, and case is ignored.
    package static func of(_ name: String, among candidates: some Sequence<String>) -> String? {
        let wanted = Array(name.lowercased().unicodeScalars)
        guard !wanted.isEmpty, wanted.count <= 100 else { return nil }
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let other = Array(candidate.lowercased().unicodeScalars)
            guard other.count <= 100, !other.isEmpty else { continue }
            let distance = edits(wanted, other)
            let allowed = max(1, min(wanted.count, other.count) / 3)
            guard distance <= allowed, distance < best?.distance ?? Int.max else { continue }
            best = (candidate, distance)
        }
        return best?.name
    }

    /// Returns "did you mean 'x'?", or nil if no candidate is near.
    package static func hint(for name: String, among candidates: some Sequence<String>) -> String? {
        of(name, among: candidates).map { "did you mean '\($0)'?" }
    }

    /// Returns the number of edits between two words, by optimal string alignment.
    static func edits(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in 1...max(1, a.count) where i <= a.count {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...max(1, b.count) where j <= b.count {
                let cost = a[i - 1] == b[j - 1] ? 0 : 1
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], beforeLast[j - 2] + 1)
                }
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}

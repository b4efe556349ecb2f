// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// The newest token of every namespace, kept without a string per line.
struct TokenTable: Sendable {
    /// The most namespaces; tokens of further namespaces are dropped.
    static let maximumNamespaces = 1024
    /// The longest token in bytes.
    static let maximumLength = 4096

    private struct Entry {
        let namespace: [UInt8]
        /// True if the namespace holds a bar: it is then a line type, and the part before a bar is another namespace.
        let hasBar: Bool
        var token: [UInt8]

        /// Takes a token that is the namespace followed by a bar, and returns true; returns false for any other, which
        /// takes the slower way.
        mutating func take(_ new: UnsafeRawBufferPointer) -> Bool {
            let count = namespace.count
            guard !hasBar, new.count > count, new[count] == UInt8(ascii: "|"),
                namespace.withUnsafeBytes({ RawBytes.areEqual(UnsafeRawBufferPointer(rebasing: new[..<count]), $0) })
            else { return false }
            // Tokens of one kind have one length as a rule.
            if token.count == new.count {
                token.withUnsafeMutableBytes { $0.copyMemory(from: new) }
            } else {
                token.removeAll(keepingCapacity: true)
                token.append(contentsOf: new)
            }
            return true
        }
    }

    private var entries: [Entry] = []
    /// The index of the entry that was written last; a stream comes in runs of one type.
    private(set) var current = -1

    /// Replaces the token of a namespace, which is the token's part before the bar or, without a bar, the line's type.
    mutating func advance(to token: UnsafeRawBufferPointer, lineType: UnsafeRawBufferPointer) {
        guard token.count <= Self.maximumLength, lineType.count <= Self.maximumLength else { return drop() }
        if current >= 0, entries[current].take(token) { return }
        let bar = token.firstIndex(of: UInt8(ascii: "|"))
        let namespace = bar.map { UnsafeRawBufferPointer(rebasing: token[..<$0]) } ?? lineType
        if let index = entries.firstIndex(where: { $0.namespace.elementsEqual(namespace) }) {
            current = index
            entries[index].token.removeAll(keepingCapacity: true)
            entries[index].token.append(contentsOf: token)
        } else if entries.count < Self.maximumNamespaces {
            current = entries.count
            entries.append(
                Entry(
                    namespace: Array(namespace), hasBar: namespace.contains(UInt8(ascii: "|")), token: Array(token)))
        } else {
            drop()
        }
    }

    /// Forgets all tokens.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        current = -1
    }

    /// Returns the checkpoint of an entry; nil if there is no such entry.
    func checkpoint(at index: Int) -> Checkpoint? {
        guard entries.indices.contains(index) else { return nil }
        return Checkpoint(
            namespace: String(decoding: entries[index].namespace, as: UTF8.self),
            token: String(decoding: entries[index].token, as: UTF8.self))
    }

    /// The newest token of every namespace.
    var vector: CheckpointVector {
        var vector = CheckpointVector()
        for index in entries.indices {
            if let checkpoint = checkpoint(at: index) { vector.advance(to: checkpoint) }
        }
        return vector
    }

    private mutating func drop() { current = -1 }
}

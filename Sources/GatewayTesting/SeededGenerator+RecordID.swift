// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension SeededGenerator {
    /// Makes an id as WatermelonDB does: 16 characters of `[a-zA-Z0-9]`.
    package mutating func recordID() -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        let bytes = (0..<16).map { _ in alphabet[Int(next() % UInt64(alphabet.count))] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension IDHash {
    /// Creates the hash of an id's bytes under the deployment's key.
    package init(id: UnsafeRawBufferPointer, key: SipHash.Key) {
        let hash = SipHash.hash128(id, key: key)
        self.init(low: hash.low, high: hash.high)
    }

    /// Creates the hash of an id under the deployment's key.
    package init(id: String, key: SipHash.Key) {
        var id = id
        self = id.withUTF8 { IDHash(id: UnsafeRawBufferPointer($0), key: key) }
    }

    /// The digest that an entry keeps of its parent's id, and a delete line by column of its value: 64 bits, never 0.
    ///
    /// The chance that another record's link has the same digest, so that this record is deleted too, is 1 to 10^13 for
    /// each deleted parent among a million records.
    package var link: UInt64 { Self.link(low: low) }

    /// Returns the ``link`` of an id, without computing the other half of its hash.
    static func link(id: UnsafeRawBufferPointer, key: SipHash.Key) -> UInt64 {
        link(low: SipHash.low128(id, key: key))
    }

    private static func link(low: UInt64) -> UInt64 { low == 0 ? 1 : low }
}

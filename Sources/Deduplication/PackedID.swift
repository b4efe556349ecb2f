// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import LineProjection
package import SyncModel

/// An id as a ledger keeps it: one to one with its text, and short.
///
/// | form | of | bytes |
/// |---|---|---|
/// | UUID | a lower-case UUID with its hyphens | 17 |
/// | two UUIDs | two of them with a dot between, as composite ids have | 33 |
/// | letters | `[A-Za-z0-9_-]` only: 6 bits each | 1 or 2 + ¾ of the text |
/// | text | all other ids | 2 + the text |
///
/// The first byte has the form in its upper five bits; its lower three are not part of the id: a ledger entry keeps its
/// state there, so that the packed id within a chunk can be handed on without a copy.
package enum PackedID {
    /// The most bytes that a packed id takes.
    package static let maximumBytes = 2 + RecordID.maximumLength
    /// The first byte's bits that belong to the id.
    package static let formMask: UInt8 = 0xf8

    static let uuid: UInt8 = 0
    static let uuidPair: UInt8 = 1
    static let text: UInt8 = 2
    static let letters: UInt8 = 3
    /// The form of 1 letter; from here to `lastShort` the form tells the number of letters.
    static let firstShort: UInt8 = 4
    static let lastShort: UInt8 = 31

    /// Appends an id of 1…255 bytes in its packed form.
    package static func append(_ id: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(byteCount: maximumBytes + slack, alignment: 8) { buffer in
            guard let base = buffer.baseAddress else { return }
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: base, count: write(id, to: base)))
        }
    }

    /// Calls `body` with the text of the packed id that `bytes` begin with; returns nil if they do not begin with one.
    ///
    /// The bytes that follow the id are not read. The text is valid during the call only.
    @inline(__always)
    package static func withText<Result>(
        of bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        guard length(of: bytes) != nil else { return nil }
        return withCheckedText(of: bytes, body)
    }

    /// Returns the text of the packed id that `bytes` begin with; nil if they do not begin with one.
    package static func text(of bytes: some Collection<UInt8>) -> String? {
        Array(bytes).withUnsafeBytes { withText(of: $0) { String(decoding: $0, as: UTF8.self) } }
    }

    /// Returns the hash of the text of a packed id that ``length(of:)`` has accepted; like ``withText(of:_:)``, it needs
    /// the bytes that follow the id if there are any, since letters are read in words.
    ///
    /// Not generic: a search in a chunk calls it for every entry it visits, and a generic function of another module may
    /// ask the runtime for its types in each call.
    package static func hash(ofChecked bytes: UnsafeRawBufferPointer, key: SipHash.Key) -> IDHash {
        withCheckedText(of: bytes) { IDHash(id: $0, key: key) }
    }

    /// Returns the number of bytes of the packed id that `bytes` begin with; nil if they do not begin with one.
    @inline(__always)
    package static func length(of bytes: UnsafeRawBufferPointer) -> Int? {
        guard !bytes.isEmpty else { return nil }
        let form = bytes[0] &>> 3
        let length: Int
        switch form {
        case uuid: length = 17
        case uuidPair: length = 33
        case text, letters:
            guard bytes.count > 1, bytes[1] > 0 else { return nil }
            length = form == text ? 2 &+ Int(bytes[1]) : 2 &+ lettersBytes(Int(bytes[1]))
        default: length = 1 &+ lettersBytes(Int(form &- firstShort) &+ 1)
        }
        guard length <= bytes.count else { return nil }
        // The other forms cannot hold characters that clients must not get.
        if form == text, !RecordID.isSafe(UnsafeRawBufferPointer(rebasing: bytes[2..<length])) { return nil }
        return length
    }

    /// The number of bytes of room behind a packed id or a text, since both are written in whole words.
    package static let slack = 8

    /// Writes an id of 1…255 bytes and returns the number of bytes written; `target` has room for them and for
    /// ``slack``.
    @inline(__always)
    package static func write(_ id: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int {
        let count = id.count
        guard let source = id.baseAddress, count > 0, count <= RecordID.maximumLength else {
            preconditionFailure("an id has 1 to 255 bytes")
        }
        if count == 36, writeUUID(source, to: target + 1) {
            target.storeBytes(of: uuid &<< 3, as: UInt8.self)
            return 17
        }
        if count == 73, source.load(fromByteOffset: 36, as: UInt8.self) == UInt8(ascii: "."),
            writeUUID(source, to: target + 1), writeUUID(source + 37, to: target + 17)
        {
            target.storeBytes(of: uuidPair &<< 3, as: UInt8.self)
            return 33
        }
        if count <= Int(lastShort &- firstShort) &+ 1, writeLetters(source, count: count, to: target + 1) {
            target.storeBytes(of: (firstShort &+ UInt8(truncatingIfNeeded: count &- 1)) &<< 3, as: UInt8.self)
            return 1 &+ lettersBytes(count)
        }
        let isLetters = writeLetters(source, count: count, to: target + 2)
        target.storeBytes(of: (isLetters ? letters : text) &<< 3, as: UInt8.self)
        (target + 1).storeBytes(of: UInt8(truncatingIfNeeded: count), as: UInt8.self)
        if isLetters { return 2 &+ lettersBytes(count) }
        (target + 2).copyMemory(from: source, byteCount: count)
        return 2 &+ count
    }

    /// Calls `body` with the text of a packed id, like ``withText(of:_:)``, if ``length(of:)`` has already accepted the
    /// bytes.
    @inline(__always)
    package static func withCheckedText<Result>(
        of bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let form = bytes[0] &>> 3
        if form == text { return body(UnsafeRawBufferPointer(rebasing: bytes[2..<2 &+ Int(bytes[1])])) }
        return withUnsafeTemporaryAllocation(byteCount: 264, alignment: 8) { buffer in
            // An allocation of fixed size has an address.
            guard let base = buffer.baseAddress else { return body(UnsafeRawBufferPointer(buffer)) }
            let count: Int
            switch form {
            case uuid:
                readUUID(bytes, at: 1, to: base)
                count = 36
            case uuidPair:
                readUUID(bytes, at: 1, to: base)
                base.storeBytes(of: UInt8(ascii: "."), toByteOffset: 36, as: UInt8.self)
                readUUID(bytes, at: 17, to: base + 37)
                count = 73
            case letters:
                count = Int(bytes[1])
                readLetters(bytes, at: 2, count: count, to: base)
            default:
                count = Int(form &- firstShort) &+ 1
                readLetters(bytes, at: 1, count: count, to: base)
            }
            return body(UnsafeRawBufferPointer(start: base, count: count))
        }
    }
}

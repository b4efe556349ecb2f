// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// Hashes a JSON value by its meaning: two values have one hash if ``JSONValue/canonical`` gives them one spelling.
///
/// The value is passed once and no tree is built of it. Each scalar has a hash, an array has that of its elements'
/// hashes, an object that of its members' hashes in the order of their names' hashes; of equal names the last one
/// counts. Nothing recurses, and the memory in use is three words for each member of the objects that are open.
struct JSONHasher: Sendable {
    private struct Member {
        let name: UInt64
        let value: UInt64
        let index: Int
    }

    private struct Frame {
        /// The state that has absorbed the hashes of an array's elements.
        var elements: SipHash
        /// The index of an object's first member among `members`; −1 for an array.
        let firstMember: Int
        /// The hash of the value's name in the object around it; 0 outside of an object.
        let name: UInt64
    }

    private let string, number, spelledNumber, literal, name, array, object: SipHash
    private var frames: [Frame] = []
    private var members: [Member] = []
    private var text: [UInt8] = []

    init(key: SipHash.Key) {
        // The first word tells what follows. It shares no value with the kinds of columns.
        func seed(_ tag: UInt64) -> SipHash {
            var state = SipHash(key)
            state.absorb(tag)
            return state
        }
        string = seed(0x81)
        number = seed(0x82)
        spelledNumber = seed(0x83)
        literal = seed(0x84)
        name = seed(0x85)
        array = seed(0x86)
        object = seed(0x87)
    }

    /// Returns the hash of a scanned value.
    @inline(never)
    mutating func hash(of slice: JSONSlice) -> UInt64 {
        // A hostile value may leave large buffers behind; they are not kept.
        frames.removeAll(keepingCapacity: frames.capacity <= 256)
        members.removeAll(keepingCapacity: members.capacity <= 4_096)
        var scanner = JSONScanner(slice, maximumDepth: .max)
        do throws(JSONError) {
            var result = try read(&scanner, name: 0)
            while let frame = frames.last {
                if frame.firstMember < 0 {
                    if try scanner.nextElement() {
                        _ = try read(&scanner, name: 0)
                        continue
                    }
                } else if let name = try scanner.nextMember() {
                    _ = try read(&scanner, name: hash(self.name, name))
                    continue
                }
                result = close()
            }
            return result
        } catch {
            assertionFailure("a validated slice does not scan: \(error)")
            return spelledNumber.hash(of: slice.bytes)
        }
    }

    /// Reads a scalar and adds its hash to the enclosing array or object, or opens an array or object.
    private mutating func read(_ scanner: inout JSONScanner, name: UInt64) throws(JSONError) -> UInt64 {
        switch try scanner.peekKind() {
        case .array:
            try scanner.beginArray()
            frames.append(Frame(elements: array, firstMember: -1, name: name))
            return 0
        case .object:
            try scanner.beginObject()
            frames.append(Frame(elements: object, firstMember: members.count, name: name))
            return 0
        case .null, .boolean, .number, .string:
            let hash = scalar(try scanner.value())
            take(hash, name)
            return hash
        }
    }

    private mutating func scalar(_ slice: JSONSlice) -> UInt64 {
        switch slice.kind {
        case .string: return hash(string, slice)
        case .number:
            guard slice.isFiniteNumber else { return spelledNumber.hash(of: slice.bytes) }
            let value = slice.hashedDouble
            return number.hash(of: value == 0 ? 0 : value.bitPattern)
        default: return literal.hash(of: slice.bool.map { $0 ? 1 : 0 } ?? 2)
        }
    }

    private mutating func take(_ hash: UInt64, _ name: UInt64) {
        guard let frame = frames.last else { return }
        if frame.firstMember < 0 {
            frames[frames.count - 1].elements.absorb(hash)
        } else {
            members.append(Member(name: name, value: hash, index: members.count))
        }
    }

    /// Ends the innermost array or object and returns its hash.
    private mutating func close() -> UInt64 {
        guard var frame = frames.popLast() else { return 0 }
        if frame.firstMember >= 0 {
            absorbMembers(from: frame.firstMember, into: &frame.elements)
            members.removeSubrange(frame.firstMember...)
        }
        let hash = frame.elements.end()
        take(hash, frame.name)
        return hash
    }

    private mutating func absorbMembers(from first: Int, into state: inout SipHash) {
        members.withUnsafeMutableBufferPointer { all in
            var members = UnsafeMutableBufferPointer(rebasing: all[first...])
            members.sort { $0.name == $1.name ? $0.index < $1.index : $0.name < $1.name }
            for index in members.indices {
                let member = members[index]
                if index + 1 < members.count, members[index + 1].name == member.name { continue }
                state.absorb(member.name)
                state.absorb(member.value)
            }
        }
    }

    private mutating func hash(_ seed: SipHash, _ slice: JSONSlice) -> UInt64 {
        guard slice.hasEscapes else { return seed.hash(of: slice.content) }
        text.removeAll(keepingCapacity: text.capacity <= 1 << 16)
        slice.appendUnescaped(to: &text)
        return text.withUnsafeBytes { seed.hash(of: $0) }
    }
}

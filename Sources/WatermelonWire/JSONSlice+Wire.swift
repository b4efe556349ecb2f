// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

extension JSONSlice {
    /// Returns true if the slice is a string with one of these texts.
    func equals(any names: [String]) -> Bool { names.contains { equals($0) } }

    /// The text of a string as UTF-8 bytes; nil for other kinds.
    var text: [UInt8]? {
        guard kind == .string else { return nil }
        var text: [UInt8] = []
        appendUnescaped(to: &text)
        return text
    }

    /// True if the slice has the form of a table's set: an object with at least one of `created`, `updated` and
    /// `deleted`, each of them a list or null.
    var isChangeSet: Bool {
        var isSet = false
        var isOther = false
        forEachMember { name, value in
            guard ChangeList.named(name) != nil else { return }
            if value.kind == .array || value.isNull { isSet = true } else { isOther = true }
        }
        return isSet && !isOther
    }

    /// True if the slice is an object without members.
    var isEmptyObject: Bool {
        guard kind == .object else { return false }
        var count = 0
        forEachMember { _, _ in count += 1 }
        return count == 0
    }
}

/// The three lists of a table's set.
enum ChangeList: CaseIterable {
    case created, updated, deleted

    /// Returns the list of this name; nil if there is none.
    static func named(_ name: JSONSlice) -> ChangeList? {
        if name.equals("created") { return .created }
        if name.equals("updated") { return .updated }
        return name.equals("deleted") ? .deleted : nil
    }
}

/// The address in memory of a document with slices, used only to determine their offsets.
struct DocumentOrigin {
    private let address: UInt

    init(_ memory: UnsafeRawBufferPointer) { address = UInt(bitPattern: memory.baseAddress) }

    /// Returns the range of a slice, counted from the document's first byte.
    func range(of slice: JSONSlice) -> Range<Int> {
        let bytes = unsafe slice.bytes
        let offset = Int(UInt(bitPattern: bytes.baseAddress) - address)
        return offset..<offset + bytes.count
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

// The table of spellings: each value that says the same in another form than the column's own. It serves both ways, the
// lines of a stream and the records of a push. A value that would lose something is wrong.
extension ColumnValue {
    /// Reads a value other than null that is not in the usual form of its column's type.
    @inline(never)
    init(spelled slice: JSONSlice, _ spelling: ColumnSpelling) {
        if slice.kind == .object, !spelling.isStrict, let wrapped = ExtendedJSON(slice) {
            self = Self.unwrapping(wrapped, spelling)
            return
        }
        switch spelling.type {
        case .string: self = Self.string(slice, spelling)
        case .number: self = Self.number(slice, spelling)
        case .boolean: self = Self.boolean(slice, spelling)
        case .timestamp: self = Self.timestamp(slice, spelling)
        case .json: self = .json(slice)
        }
    }

    private static func unwrapping(_ wrapped: ExtendedJSON, _ spelling: ColumnSpelling) -> ColumnValue {
        switch (wrapped.meaning, spelling.type) {
        case (.moment, .timestamp): Moment(wrapped.value, unit: 1).map { $0.value(in: spelling) } ?? .wrong
        case (.moment, .string), (.text, .string): string(wrapped.value, spelling)
        case (.number, .string): wrapped.value.kind == .string ? .string(wrapped.value) : .text(wrapped.value.bytes)
        case (.number, .number): number(wrapped.value, spelling)
        case (.number, .boolean): boolean(wrapped.value, spelling)
        case (.number, .timestamp): timestamp(wrapped.value, spelling)
        default: .wrong
        }
    }

    private static func string(_ slice: JSONSlice, _ spelling: ColumnSpelling) -> ColumnValue {
        switch slice.kind {
        // An app's column that is not optional has "" where the backend has null, and no id is empty.
        case .string: return slice.isEmptyString && spelling.isReference && spelling.isOptional ? .null : .string(slice)
        case .number where spelling.isReference:
            // A record's id is a whole number or a text.
            return slice.isInteger || slice.integerOfOtherSpelling != nil ? .text(slice.bytes) : .wrong
        case .boolean where spelling.isReference: return .wrong
        case .number, .boolean: return spelling.isStrict ? .wrong : .text(slice.bytes)
        case .array, .object: return spelling.nestsJSON ? .json(slice) : .wrong
        case .null: return .null
        }
    }

    private static func number(_ slice: JSONSlice, _ spelling: ColumnSpelling) -> ColumnValue {
        if slice.kind == .number {
            return (spelling.isClients ? slice.isFiniteNumber : slice.isNumberOfDouble) ? .number(slice) : .wrong
        }
        guard !spelling.isStrict else { return .wrong }
        if let value = slice.bool { return .double(value ? 1 : 0) }
        guard slice.kind == .string else { return .wrong }
        return slice.hasEscapes
            ? slice.withText { number(in: $0, isBorrowed: false, spelling) }
            : number(in: slice.content, isBorrowed: true, spelling)
    }

    /// Reads a text as a number; one that lies in the line as long as the value is borrowed.
    @inline(__always)
    private static func number(
        in text: UnsafeRawBufferPointer, isBorrowed: Bool, _ spelling: ColumnSpelling
    ) -> ColumnValue {
        // The backend is to get the digits of a decimal back.
        guard let number = NumberText(text), !spelling.isDecimal || number.keepsDigits else { return .wrong }
        if isBorrowed, let plain = number.slice { return .number(plain) }
        return .double(number.double)
    }

    private static func boolean(_ slice: JSONSlice, _ spelling: ColumnSpelling) -> ColumnValue {
        if let value = slice.bool { return .boolean(value) }
        guard !spelling.isStrict else { return .wrong }
        if let words = spelling.words {
            if slice.says(words.yes) { return .boolean(true) }
            if slice.says(words.no) { return .boolean(false) }
            // The words are the backend's; an app has its own.
            guard spelling.isClients else { return .wrong }
        }
        let value: Double?
        switch slice.kind {
        case .number: value = slice.double
        case .string: value = slice.withText { BooleanWord.value(of: $0) ?? NumberText($0)?.double }
        case .object: value = slice.bitOfBuffer
        default: value = nil
        }
        switch value {
        case 1: return .boolean(true)
        case 0: return .boolean(false)
        default: return .wrong
        }
    }

    private static func timestamp(_ slice: JSONSlice, _ spelling: ColumnSpelling) -> ColumnValue {
        if spelling.isStrict, slice.kind != .number {
            guard slice.kind == .string, let moment = slice.withText({ ISOTimestamp.moment(of: $0) }), moment.isZoned
            else { return .wrong }
            return .milliseconds(moment.milliseconds, isAssumed: false)
        }
        // A client's numbers always count.
        let hasDates = spelling.hasDates && !(spelling.isClients && slice.kind == .number)
        return Moment(slice, unit: spelling.unit, hasDates: hasDates).map { $0.value(in: spelling) } ?? .wrong
    }
}

extension Moment {
    /// Returns the moment as a value of a column, whose zone counts if the source names none.
    fileprivate func value(in spelling: ColumnSpelling) -> ColumnValue {
        guard !isZoned else { return .milliseconds(milliseconds, isAssumed: false) }
        guard let zone = spelling.zone else { return .milliseconds(milliseconds, isAssumed: !isDate) }
        let moment = zone.moment(ofLocal: milliseconds)
        return ISOTimestamp.range.contains(moment) ? .milliseconds(moment, isAssumed: false) : .wrong
    }
}

extension JSONSlice {
    /// Returns whether the value is one of the backend's words for true or false.
    fileprivate func says(_ word: Column.Literal) -> Bool {
        switch word {
        case .string(let text): equals(text)
        case .number(let number): double == number
        case .boolean(let value): bool == value
        }
    }

    /// The only bit of a buffer as Node.js writes it, in which MySQL's `BIT(1)` comes; nil for any other object.
    fileprivate var bitOfBuffer: Double? {
        guard member("type")?.equals("Buffer" as StaticString) == true, let data = member("data"), data.kind == .array,
            data.element(at: 1) == nil
        else { return nil }
        return data.element(at: 0)?.double
    }
}

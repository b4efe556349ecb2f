// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The open containers, one bit each that tells objects from arrays, so that nesting costs no stack.
struct ContainerStack {
    private var top: UInt64 = 0
    private var below: [UInt64] = []
    private(set) var count = 0

    @inline(__always)
    mutating func push(isObject: Bool) {
        if count & 63 == 0, count > 0 { spill() }
        top = top &<< 1 | (isObject ? 1 : 0)
        count &+= 1
    }

    @inline(__always)
    mutating func pop() {
        count &-= 1
        top &>>= 1
        if count & 63 == 0, count > 0 { top = below.removeLast() }
    }

    @inline(__always)
    var isObject: Bool { top & 1 == 1 }

    @inline(never)
    private mutating func spill() {
        below.append(top)
        top = 0
    }
}

extension JSONScanner {
    /// Steps over the array or object at whose opening bracket the scanner stands.
    mutating func skipContainer() throws(JSONError) {
        var stack = ContainerStack()
        try open(&stack)
        while true {
            // At this point a member or an element is due, or the first bracket has been closed again.
            if stack.count == 0 { return }
            if stack.isObject { try skipName() }
            let first = byte(at: cursor)
            switch first {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                try open(&stack)
                continue
            case UInt8(ascii: "\""): _ = try scanString()
            default: _ = try otherValue(first)
            }
            try closeOrContinue(&stack)
        }
    }

    /// Passes an opening bracket and, if the container is empty, its closing bracket too.
    private mutating func open(_ stack: inout ContainerStack) throws(JSONError) {
        guard depth &+ stack.count < maximumDepth else { throw error(.tooDeep, at: cursor) }
        let isObject = byte(at: cursor) == UInt8(ascii: "{")
        stack.push(isObject: isObject)
        cursor += 1
        skipWhiteSpace()
        if byte(at: cursor) == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            cursor += 1
            stack.pop()
            if stack.count > 0 { try closeOrContinue(&stack) }
        }
    }

    /// Passes all brackets that close here, and the comma before the next member or element.
    private mutating func closeOrContinue(_ stack: inout ContainerStack) throws(JSONError) {
        while true {
            skipWhiteSpace()
            let next = byte(at: cursor)
            if next == UInt8(ascii: ",") {
                cursor += 1
                skipWhiteSpace()
                return
            }
            guard next == (stack.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                throw unexpected(at: cursor)
            }
            cursor += 1
            stack.pop()
            if stack.count == 0 { return }
        }
    }

    private mutating func skipName() throws(JSONError) {
        guard byte(at: cursor) == UInt8(ascii: "\"") else { throw unexpected(at: cursor) }
        _ = try scanString()
        skipWhiteSpace()
        guard byte(at: cursor) == UInt8(ascii: ":") else { throw unexpected(at: cursor) }
        cursor += 1
        skipWhiteSpace()
    }
}

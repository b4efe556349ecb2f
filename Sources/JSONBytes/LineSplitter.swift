// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of chunks, however they are cut, into its lines.
///
/// Lines end with `\n` or `\r\n`; blank lines are skipped: white space, and the heartbeats `{}` and `: ping`. A line that lies within one chunk is
/// handed out without a copy; a line that spans chunks is joined in a buffer that is reused. The memory that is kept
/// between chunks is bounded by the longest line that is allowed.
package struct LineSplitter {
    /// A line that the splitter found.
    ///
    /// The memory is valid during the call only.
    package enum Event {
        /// A line without its end.
        case line(UnsafeRawBufferPointer)
        /// A line of `length` bytes, more than allowed, of which only the first and the last bytes were kept.
        ///
        /// `head` and `tail` may overlap. They let the caller see what was lost: the type stands at the beginning of a
        /// stream line, the ack token often at its end.
        case tooLong(head: UnsafeRawBufferPointer, tail: UnsafeRawBufferPointer, length: Int)
    }

    /// The most bytes that a line may have, its end not counted.
    package let maximumLength: Int
    /// The number of bytes that are kept of the beginning of a line that is too long.
    package let headLength: Int
    /// The number of bytes that are kept of the end of a line that is too long.
    package let tailLength: Int
    /// The number of lines that were skipped because they were blank.
    package private(set) var blankLines = 0

    /// The line that has begun and not ended, or the head of a line that is already too long.
    private var pending: [UInt8] = []
    /// The last bytes of a line that is too long; up to twice ``tailLength``, so that the buffer is seldom shifted.
    private var tail: [UInt8] = []
    /// The length so far of a line that is too long; 0 otherwise.
    private var skipped = 0

    /// True if the line that has begun is already too long; its end may never come.
    package var isBeyondLimit: Bool { skipped > 0 }

    /// Creates a splitter that stands before the first byte.
    package init(maximumLength: Int, headLength: Int = 4096, tailLength: Int = 1024) {
        self.maximumLength = maximumLength
        self.headLength = headLength
        self.tailLength = tailLength
    }

    /// Takes the next chunk and calls `body` for every line that ends in it, in order.
    ///
    /// - Throws: Errors of `body`. The splitter has then lost the rest of the chunk and must not be fed again.
    package mutating func feed<E: Error>(
        _ chunk: UnsafeRawBufferPointer, _ body: (Event) throws(E) -> Void
    ) throws(E) {
        guard let base = chunk.baseAddress else { return }
        let end = base + chunk.count
        var start = base
        while start < end {
            let newline = Self.newline(from: start, end: end)
            let piece = UnsafeRawBufferPointer(start: start, count: newline - start)
            if newline == end { return keep(piece) }
            if pending.isEmpty && skipped == 0 {
                blankLines += try emit(piece, body)
            } else {
                keep(piece)
                try emitPending(body)
            }
            start = newline + 1
        }
    }

    /// Ends the stream and returns the number of bytes of an unfinished line, which are dropped and never become a
    /// line.
    ///
    /// More than 0 means that the stream was cut off.
    package mutating func finish() -> Int {
        let left = skipped > 0 ? skipped : pending.withUnsafeBytes(Self.isBlank) ? 0 : pending.count
        reset()
        return left
    }

    /// Returns the address of the first newline between two addresses of one buffer, or the end.
    package static func newline(from start: UnsafeRawPointer, end: UnsafeRawPointer) -> UnsafeRawPointer {
        var pointer = start
        while Int(bitPattern: end) &- Int(bitPattern: pointer) >= 32 {
            let first = ByteWord.newlines(ByteWord.load(pointer))
            let second = ByteWord.newlines(ByteWord.load(pointer + 8))
            let third = ByteWord.newlines(ByteWord.load(pointer + 16))
            let fourth = ByteWord.newlines(ByteWord.load(pointer + 24))
            if first | second | third | fourth != 0 { break }
            pointer += 32
        }
        while Int(bitPattern: end) &- Int(bitPattern: pointer) >= 8 {
            let mask = ByteWord.newlines(ByteWord.load(pointer))
            if mask != 0 { return pointer + ByteWord.firstMark(mask) }
            pointer += 8
        }
        while pointer < end, pointer.load(as: UInt8.self) != UInt8(ascii: "\n") { pointer += 1 }
        return pointer
    }

    /// Returns true if a line, without its end, says nothing.
    package static func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let first = line.first else { return true }
        // Almost every line begins with a brace, and is longer.
        if first == UInt8(ascii: "{") { return line.count < 8 && isEmptyObject(line) }
        // A comment, as in a stream of events; no JSON begins so.
        if first == UInt8(ascii: ":") { return true }
        return first <= 0x20 && line.allSatisfy(JSONScanner.isWhiteSpace)
    }

    private static func isEmptyObject(_ line: UnsafeRawBufferPointer) -> Bool {
        let rest = line.dropFirst().drop(while: JSONScanner.isWhiteSpace)
        return rest.first == UInt8(ascii: "}") && rest.dropFirst().allSatisfy(JSONScanner.isWhiteSpace)
    }

    /// Hands a line out and returns the number of blank lines that were skipped, 0 or 1.
    private func emit<E: Error>(_ raw: UnsafeRawBufferPointer, _ body: (Event) throws(E) -> Void) throws(E) -> Int {
        let line = raw.last == UInt8(ascii: "\r") ? UnsafeRawBufferPointer(rebasing: raw.dropLast()) : raw
        if line.count > maximumLength {
            let head = UnsafeRawBufferPointer(rebasing: line.prefix(headLength))
            let tail = UnsafeRawBufferPointer(rebasing: line.suffix(tailLength))
            try body(.tooLong(head: head, tail: tail, length: line.count))
        } else if Self.isBlank(line) {
            return 1
        } else {
            try body(.line(line))
        }
        return 0
    }

    private mutating func emitPending<E: Error>(_ body: (Event) throws(E) -> Void) throws(E) {
        defer { reset() }
        guard skipped > 0 else {
            blankLines += try pending.withUnsafeBufferPointer { (line) throws(E) in
                try emit(UnsafeRawBufferPointer(line), body)
            }
            return
        }
        if tail.last == UInt8(ascii: "\r") {
            tail.removeLast()
            skipped -= 1
        }
        try pending.withUnsafeBufferPointer { (head) throws(E) in
            try tail.withUnsafeBufferPointer { (tail) throws(E) in
                let end = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(tail).suffix(tailLength))
                try body(.tooLong(head: UnsafeRawBufferPointer(head), tail: end, length: skipped))
            }
        }
    }

    private mutating func keep(_ piece: UnsafeRawBufferPointer) {
        if skipped == 0 {
            // One byte more, for the carriage return that may belong to the line's end.
            if pending.count + piece.count <= maximumLength + 1 {
                pending.append(contentsOf: piece)
                return
            }
            skipped = pending.count
            tail.append(contentsOf: pending.suffix(tailLength))
            pending.removeLast(max(pending.count - headLength, 0))
        }
        skipped += piece.count
        if pending.count < headLength { pending.append(contentsOf: piece.prefix(headLength - pending.count)) }
        tail.append(contentsOf: piece.suffix(tailLength + 1))
        if tail.count > 2 * tailLength + 2 { tail.removeFirst(tail.count - tailLength - 1) }
    }

    private mutating func reset() {
        pending.removeAll(keepingCapacity: true)
        tail.removeAll(keepingCapacity: true)
        skipped = 0
    }
}

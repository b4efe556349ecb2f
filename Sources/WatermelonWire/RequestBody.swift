// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// A body that contains JSON: the validated bytes, and the range of the request's own object in them.
struct RequestBody {
    /// The body, or the content of a JSON string in it.
    let bytes: [UInt8]
    /// The range of the value at the configured path.
    let range: Range<Int>

    /// The number of times that JSON may be in a JSON string: once around the whole body, once at the configured path.
    private static let maximumUnwraps = 2

    /// Finds the request's object.
    ///
    /// A byte order mark is skipped. The result is nil for a body of white space alone, which counts as none.
    ///
    /// - Throws: ``WireError/Code/notJSON``, ``WireError/Code/tooDeep`` or ``WireError/Code/bodyPath``.
    init?(_ body: [UInt8], dialect: WireDialect) throws(WireError) {
        var body = body
        let hasMark = unsafe body.withUnsafeBytes { unsafe JSONScanner.hasByteOrderMark($0) }
        if hasMark { body.removeFirst(3) }
        if body.trimmingSpaces().isEmpty { return nil }
        var steps = dialect.bodyPath[...]
        for _ in 0...Self.maximumUnwraps {
            switch try Self.look(into: body, steps: &steps, maximumDepth: dialect.limits.jsonDepth) {
            case .found(let range):
                bytes = body
                self.range = range
                return
            case .text(let text): body = text
            case .nothing: throw .bodyPath
            }
        }
        throw .bodyShape
    }

    /// Calls `body` with the request's object.
    func withValue<R>(_ body: (JSONSlice, DocumentOrigin) throws(WireError) -> R) throws(WireError) -> R {
        try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(WireError) in
            let memory = UnsafeRawBufferPointer(buffer)
            var scanner = unsafe JSONScanner(UnsafeRawBufferPointer(rebasing: memory[range]), maximumDepth: .max)
            let slice: JSONSlice
            do throws(JSONError) { slice = try scanner.value() } catch { throw .notJSON }
            return try body(slice, unsafe DocumentOrigin(memory))
        }
    }

    /// Validates a whole document and calls `body` with it.
    static func withDocument<R>(
        _ bytes: [UInt8], maximumDepth: Int, _ body: (JSONSlice, DocumentOrigin) throws(WireError) -> R
    ) throws(WireError) -> R {
        try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(WireError) in
            let memory = UnsafeRawBufferPointer(buffer)
            let slice: JSONSlice
            do throws(JSONError) {
                slice = try unsafe JSONScanner.document(memory, maximumDepth: maximumDepth)
            } catch {
                throw error.code == .tooDeep ? .tooDeep(limit: maximumDepth) : .notJSON
            }
            return try body(slice, unsafe DocumentOrigin(memory))
        }
    }

    private enum Finding {
        case found(Range<Int>)
        case text([UInt8])
        case nothing
    }

    /// Follows the rest of the path as far as possible without opening a JSON string.
    private static func look(
        into bytes: [UInt8], steps: inout ArraySlice<String>, maximumDepth: Int
    ) throws(WireError) -> Finding {
        var rest = steps
        let finding = try withDocument(bytes, maximumDepth: maximumDepth) {
            (document, origin) throws(WireError) -> Finding in
            var value = document
            while true {
                if let text = value.text { return .text(text) }
                guard let step = rest.popFirst() else { return .found(origin.range(of: value)) }
                guard let next = value.kind == .array ? Int(step).flatMap(value.element(at:)) : value.member(step)
                else { return .nothing }
                value = next
            }
        }
        steps = rest
        return finding
    }
}

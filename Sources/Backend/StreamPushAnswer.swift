// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import NIOCore
import SyncModel

/// Reads a backend's results for the lines of a stream push.
///
/// There is a result for each line, and there may be a hundred thousand, so no tree is built.
struct StreamPushAnswer {
    /// The number of lines that were sent; an answer with a result for any other line is malformed.
    let count: Int

    /// Returns the results of the lines, in the order of the answer.
    ///
    /// - Throws: ``BackendError/malformedAnswer(_:)``.
    func lines(in body: ByteBuffer) throws(BackendError) -> [StreamPushLine] {
        let lines = body.withUnsafeReadableBytes { bytes -> Result<[StreamPushLine], BackendError> in
            do throws(JSONError) {
                let answer = try JSONScanner.document(bytes, maximumDepth: JSONValue.Limits().depth)
                return results(of: answer)
            } catch {
                return .failure(.malformedAnswer("\(error)"))
            }
        }
        return try lines.get()
    }

    private func results(of answer: JSONSlice) -> Result<[StreamPushLine], BackendError> {
        guard let results = answer.member("results"), results.kind == .array else {
            return .failure(.malformedAnswer("there are no results"))
        }
        var lines: [StreamPushLine] = []
        var isReported = Array(repeating: false, count: count)
        var isClear = true
        results.forEachElement { result in
            guard isClear, let line = line(result), !isReported[line.line] else {
                isClear = false
                return
            }
            isReported[line.line] = true
            lines.append(line)
        }
        guard isClear else {
            return .failure(.malformedAnswer("a result has no line of its own, or no outcome that is known"))
        }
        return .success(lines)
    }

    private func line(_ result: JSONSlice) -> StreamPushLine? {
        var number: Int64?
        var outcome: StreamPushLine.Outcome?
        var (id, table, message): (String?, String?, String?)
        result.forEachMember { name, value in
            if name.equals("line") {
                number = value.int64
            } else if name.equals("outcome") {
                outcome = value.string.flatMap(StreamPushLine.Outcome.init(rawValue:))
            } else if name.equals("id") {
                id = value.idText
            } else if name.equals("table") {
                table = value.string
            } else if name.equals("message") {
                message = value.string.map { ForeignText.cut($0) }
            }
        }
        guard let number, let outcome, (0..<Int64(count)).contains(number) else { return nil }
        return StreamPushLine(line: Int(number), outcome: outcome, id: id, table: table, message: message)
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A fault that happens to the next requests that match.
package struct DemoFault: Sendable {
    /// The effect of a fault.
    package enum Action: Sendable {
        /// The request is not carried out; this status is the answer.
        case status(Int, retryAfter: Int? = nil, message: String = "this request was told to fail")
        /// The request is carried out, with any result, and this status is the answer.
        case statusAfterwards(Int)
        /// The request is not carried out, and the answer is a success with this body.
        case success(body: String)
        /// The connection is closed; the request is not carried out.
        case loseRequest
        /// The request is carried out and the connection closed without an answer.
        case loseAnswer
        /// The request is carried out after this many milliseconds, even if its client has gone by then.
        case delay(Int)
        /// The request is carried out, with faults in its stream.
        case stream(Stream)
    }

    /// The faults of a stream.
    ///
    /// Lines are counted from 0.
    package struct Stream: Sendable {
        /// The number of lines after which the connection is closed, without ending the body; nil never closes it.
        package var cutAfterLines: Int?
        /// The number of the body's bytes after which the connection is closed; nil never closes it.
        package var cutAfterBytes: Int?
        /// The number of lines after which the body ends in good order; nil ends it after the last line.
        package var endAfterLines: Int?
        /// The number of lines after which no more are sent, with the connection open, until the client goes; nil sends
        /// all.
        package var stallAfterLines: Int?
        /// The milliseconds to wait before each line; nil waits for none.
        package var delayPerLine: Int?
        /// True if the complete line is left out.
        package var omitsComplete = false
        /// True if the line end of the complete line is left out.
        package var omitsLastLineEnd = false
        /// The malformations of single lines, by line number.
        package var malformed: [Int: Malformation] = [:]

        /// Creates a stream without faults.
        package init() {}
    }

    /// The malformation of a line.
    package enum Malformation: Hashable, Sendable {
        /// The line is replaced by its first half.
        case invalidJSON
        /// The first string of the line's data contains a byte that is not UTF-8.
        case invalidUTF8
        /// The line's data lacks the id and every member that ends in `Id`.
        case noID
        /// The line's data has numbers, booleans and texts of other types, except empty texts and UUIDs.
        case wrongTypes
        /// The line's data is no object.
        case notAnObject
        /// The line is preceded by a line of an unknown type.
        case unknownTypeBefore
        /// The line is preceded by a line that is no JSON at all.
        case garbageBefore
        /// The line is preceded by an empty line.
        case blankBefore
        /// The line is sent twice.
        case duplicate
        /// The line's data contains this many bytes of padding.
        case overlong(Int)
        /// The line has no ack token.
        case noAck
        /// The line's ack token is a number.
        case numberAck
        /// The line is preceded by a line that is an array.
        case arrayBefore
    }

    /// The method that a request must have; nil allows any.
    package var method: String?
    /// The path that a request must have, or its prefix if this ends with `*`; nil allows any.
    package var path: String?
    /// The number of matching requests that pass before the fault happens.
    package var skipped: Int
    /// The number of requests that the fault happens to.
    package var times: Int
    /// The effect of the fault.
    package var action: Action

    /// Creates a fault for the next `times` requests of this method and path, after the skipped ones.
    package init(
        _ method: String? = nil, _ path: String? = nil, skipping skipped: Int = 0, times: Int = 1, action: Action
    ) {
        self.method = method
        self.path = path
        self.skipped = skipped
        self.times = times
        self.action = action
    }

    /// Returns true if the fault is for requests of this method and path.
    func matches(_ method: String, _ path: String) -> Bool {
        guard (self.method ?? method) == method else { return false }
        guard let own = self.path else { return true }
        return own.hasSuffix("*") ? path.hasPrefix(own.dropLast()) : path == own
    }

    /// Returns a fault of the next stream.
    package static func stream(_ change: (inout Stream) -> Void) -> DemoFault {
        var stream = Stream()
        change(&stream)
        return DemoFault("POST", "/sync/stream", action: .stream(stream))
    }
}

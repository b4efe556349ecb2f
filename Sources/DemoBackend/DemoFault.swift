// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A fault of the next requests that match.
package struct DemoFault: Sendable {
    /// The effect of the fault.
    package enum Action: Sendable {
        /// The request is not carried out; this status is the answer.
        case status(Int, retryAfter: Int? = nil)
        /// The request is carried out, and the answer has this status.
        case statusAfterwards(Int)
        /// The connection is closed; the request is not carried out.
        case loseRequest
        /// The request is carried out and the connection closed without an answer.
        case loseAnswer
        /// The request is carried out after this many milliseconds, also where its client has gone by then.
        case delay(Int)
        /// The request is carried out; its stream goes wrong.
        case stream(Stream)
    }

    /// The faults of a stream.
    ///
    /// Lines are counted from 0.
    package struct Stream: Sendable {
        /// Closes the connection after this many lines, without ending the body.
        package var cutAfterLines: Int?
        /// Closes the connection after this many bytes of the body.
        package var cutAfterBytes: Int?
        /// Ends the body in good order after this many lines.
        package var endAfterLines: Int?
        /// Sends this many lines and then nothing, with the connection open, until the client goes.
        package var stallAfterLines: Int?
        /// Milliseconds before each line.
        package var delayPerLine: Int?
        /// Leaves out the complete line.
        package var omitsComplete = false
        /// Leaves out the end of the complete line.
        package var omitsLastLineEnd = false
        /// The faults of single lines, by their number.
        package var malformed: [Int: Malformation] = [:]

        /// Creates a stream without faults.
        package init() {}
    }

    /// The fault of a line.
    package enum Malformation: Hashable, Sendable {
        /// Half of the line instead of the line.
        case invalidJSON
        /// A byte that is no UTF-8 in the first string of its data.
        case invalidUTF8
        /// Its data lacks the id and every member that ends in `Id`.
        case noID
        /// Numbers, booleans and strings of its data exchanged.
        case wrongTypes
        /// The line's data is no object.
        case notAnObject
        /// A line of an unknown type, before the line.
        case unknownTypeBefore
        /// A line that is no JSON at all, before it.
        case garbageBefore
        /// An empty line before it.
        case blankBefore
        /// The line twice.
        case duplicate
        /// This many bytes of padding in its data.
        case overlong(Int)
        /// A line without an ack token.
        case noAck
        /// A line whose ack token is a number.
        case numberAck
        /// A line that is an array, before it.
        case arrayBefore
    }

    /// The method that a request must have; nil is any.
    package var method: String?
    /// The path that a request must have, or what it must begin with where this ends with `*`; nil is any.
    package var path: String?
    /// The number of such requests that pass before the fault.
    package var skipped: Int
    /// The number of requests that have the fault.
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

    /// Creates a fault of the next stream.
    package static func stream(_ change: (inout Stream) -> Void) -> DemoFault {
        var stream = Stream()
        change(&stream)
        return DemoFault("POST", "/sync/stream", action: .stream(stream))
    }
}

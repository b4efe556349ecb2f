// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The answer to a request, as far as it came.
package struct RawAnswer: Hashable, Sendable {
    /// The status; 0 where not even a head came.
    package var status = 0
    /// The header fields as they came.
    package var fields: [Field] = []
    /// The body, unframed.
    package var body: [UInt8] = []
    /// True if the answer ended as its framing announced; any other end of the connection is a cut.
    package var isComplete = false

    /// One header field.
    package struct Field: Hashable, Sendable {
        /// The name as it was sent.
        package var name: String
        /// The value without spaces around it.
        package var value: String
    }

    /// Creates an empty answer.
    package init() {}

    /// Returns the value of a field, for a name in any case; several are joined with a comma.
    package subscript(name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }
    /// True if the status is one of success and the answer is complete.
    package var isSuccess: Bool { (200..<300).contains(status) && isComplete }
    /// The stable code of the gateway's error.
    package var errorCode: String? { self["Rind-Error"] }
}

extension RawAnswer: CustomStringConvertible {
    /// The status, the error's code and the beginning of the body.
    package var description: String {
        let code = errorCode.map { " [\($0)]" } ?? ""
        return "\(status)\(isComplete ? "" : ", cut")\(code) \(text.prefix(300))"
    }
}

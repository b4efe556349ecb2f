// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What came in answer to a request, as far as it came.
package struct RawAnswer: Hashable, Sendable {
    /// The status; 0 where not even a head came.
    package var status = 0
    /// The header fields as they came.
    package var fields: [Field] = []
    /// The body, unframed.
    package var body: [UInt8] = []
    /// Whether the answer ended as HTTP wants it; an end of the connection that no framing asked for is a cut.
    package var isComplete = false

    /// One header field.
    package struct Field: Hashable, Sendable {
        /// The name as it was sent.
        package var name: String
        /// The value without spaces around it.
        package var value: String
    }

    /// Nothing yet.
    package init() {}

    /// The value of a field, whatever the case of its name; several are joined with a comma.
    package subscript(name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }
    /// Whether the status says that the request was carried out.
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

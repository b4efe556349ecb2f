// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// What a client gets when a request failed: for most apps a sentence that they show to their user as it is.
package struct ErrorAnswer: Hashable, Sendable {
    /// The field that carries ``code`` in every error answer.
    package static let codeField = "Rind-Error"

    /// What a program may want to know beyond the code.
    package enum Details: Hashable, Sendable {
        /// The records that somebody else changed in between, and what the backend has of some of them.
        case conflicts([RecordList], present: [PresentRecord] = [])
    }

    /// The HTTP status.
    package var status: Int
    /// The stable code, such as `request.last_pulled_at`.
    package var code: String
    /// One short sentence for people.
    package var message: String
    /// What the log calls the request.
    package var requestID: String
    /// More, where there is more.
    package var details: Details?

    /// An error answer.
    package init(status: Int, code: String, message: String, requestID: String, details: Details? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.requestID = requestID
        self.details = details
    }

    /// The answer to a request that wasn't understood.
    package init(_ error: WireError, requestID: String) {
        self.init(status: error.status, code: error.code.rawValue, message: error.message, requestID: requestID)
    }

    /// The body and its type: JSON where the client names `application/json` in its `Accept` field, else the sentence.
    ///
    /// `*/*` doesn't name it: the documentation's `fetch` sends that, and throws the body's text at the user. The text
    /// names a few of the details' records and ends with the request id in parentheses.
    package func body(accept: String?) -> (contentType: String, bytes: [UInt8]) {
        if let accept, Self.namesJSON(accept) { return (AnswerWriter.contentType, jsonBody) }
        return ("text/plain; charset=utf-8", textBody)
    }

    /// Whether an `Accept` field names `application/json` with a weight above zero (RFC 9110, 12.5.1).
    package static func namesJSON(_ accept: String) -> Bool {
        accept.utf8.split(separator: UInt8(ascii: ",")).contains { range in
            let parts = range.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
                .map { String(decoding: Array($0).trimmingSpaces(), as: UTF8.self).lowercased() }
            let isRefused = parts.dropFirst().contains { part in
                part.hasPrefix("q=")
                    && DecimalText(part.dropFirst(2).utf8).map { $0.truncated == 0 && $0.isWhole } == true
            }
            return parts.first == "application/json" && !isRefused
        }
    }

    private var textBody: [UInt8] {
        var sentence = message
        while sentence.last == "." { sentence.removeLast() }
        if case .conflicts(let lists, _) = details, let records = Self.someOf(lists) { sentence += ": \(records)" }
        return Array("\(sentence) (\(requestID.shortened))".utf8)
    }

    /// How many records the text of an error names.
    private static let shownRecords = 5

    private static func someOf(_ lists: [RecordList]) -> String? {
        var rest = shownRecords
        var parts: [String] = []
        for list in lists where rest > 0 && !list.ids.isEmpty {
            let ids = list.ids.prefix(rest)
            rest -= ids.count
            parts.append("\(list.table.shortened) " + ids.map(\.shortened).joined(separator: ", "))
        }
        if parts.isEmpty { return nil }
        let isCut = lists.reduce(0) { $0 + $1.ids.count } > shownRecords
        return parts.joined(separator: "; ") + (isCut ? " …" : "")
    }

    private var jsonBody: [UInt8] {
        var writer = JSONWriter()
        writer.append(raw: #"{"error":{"code":"#)
        writer.append(string: code)
        writer.append(raw: #","message":"#)
        writer.append(string: message)
        writer.append(raw: #","request_id":"#)
        writer.append(string: requestID)
        if case .conflicts(let lists, let present) = details {
            writer.append(raw: #","details":{"conflicts":"#)
            RecordList.append(lists, to: &writer)
            if !present.isEmpty {
                writer.append(raw: #","present":"#)
                PresentRecord.append(present, to: &writer)
            }
            writer.append(raw: "}")
        }
        writer.append(raw: "}}")
        return writer.bytes
    }
}

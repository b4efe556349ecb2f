// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// The answer to a failed request: for most apps a sentence that they show to their user as it is.
package struct ErrorAnswer: Hashable, Sendable {
    /// The header field that carries ``code`` in every error answer.
    package static let codeField = "Rind-Error"

    /// The details for programs beyond the code.
    package enum Details: Hashable, Sendable {
        /// The records that have been changed elsewhere in the meantime, and the backend's present state of some of
        /// them.
        case conflicts([RecordList], present: [PresentRecord] = [])
        /// The records that are the reason for any other refusal.
        case records([RecordList])

        /// The name of the details' member in the body, and the records.
        fileprivate var named: (name: String, lists: [RecordList]) {
            switch self {
            case .conflicts(let lists, _): ("conflicts", lists)
            case .records(let lists): ("records", lists)
            }
        }
    }

    /// The HTTP status.
    package var status: Int
    /// The stable code, such as `request.last_pulled_at`.
    package var code: String
    /// One short sentence for users.
    package var message: String
    /// The request's id in the log.
    package var requestID: String
    /// The records that the error is about; nil if it is about none.
    package var details: Details?

    /// Creates an error answer.
    package init(status: Int, code: String, message: String, requestID: String, details: Details? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.requestID = requestID
        self.details = details
    }

    /// Creates the answer to a request that was not understood.
    package init(_ error: WireError, requestID: String) {
        self.init(status: error.status, code: error.code.rawValue, message: error.message, requestID: requestID)
    }

    /// Returns the body and its type: JSON if the client names `application/json` in its `Accept` field, else the
    /// sentence.
    ///
    /// `*/*` does not count as naming it: the documentation's `fetch` sends that, and throws the body's text at the
    /// user. The text names a few of the details' records and ends with the request id in parentheses.
    package func body(accept: String?) -> (contentType: String, bytes: [UInt8]) {
        if let accept, Self.namesJSON(accept) { return (AnswerWriter.contentType, jsonBody) }
        return ("text/plain; charset=utf-8", textBody)
    }

    /// Returns true if an `Accept` field names `application/json` with a weight above zero (RFC 9110, 12.5.1).
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

    /// The most bytes of the sentence.
    private static let messageBytes = 1_000

    private var textBody: [UInt8] {
        var sentence = ForeignText.cut(message, to: Self.messageBytes)
        while sentence.last == "." { sentence.removeLast() }
        if let details, let records = Self.someOf(details.named.lists) { sentence += ": \(records)" }
        return Array("\(sentence) (\(requestID.shortened))".utf8)
    }

    /// The most records that the text of an error names.
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

    /// The most bytes of tables and ids in the body; the client has sent them, but that is no promise to return them
    /// all.
    private static let detailBytes = 256 * 1_024

    /// Returns as many of the records as may be named, each cut to the length of an id, and the number of those left
    /// out.
    private static func bounded(_ lists: [RecordList]) -> (lists: [RecordList], more: Int) {
        var bounded: [RecordList] = []
        var rest = detailBytes
        var more = 0
        for list in lists {
            var kept = RecordList(table: quoted(list.table), ids: [])
            rest -= kept.table.utf8.count
            for id in list.ids {
                let id = quoted(id)
                rest -= id.utf8.count + 3
                if rest >= 0 { kept.ids.append(id) } else { more += 1 }
            }
            if !kept.ids.isEmpty { bounded.append(kept) }
        }
        return (bounded, more)
    }

    private static func quoted(_ text: String) -> String {
        text.utf8.count <= RecordID.maximumLength ? text : ForeignText.cut(text)
    }

    private var jsonBody: [UInt8] {
        var writer = JSONWriter()
        writer.append(raw: #"{"error":{"code":"#)
        writer.append(string: code)
        writer.append(raw: #","message":"#)
        writer.append(string: ForeignText.cut(message, to: Self.messageBytes))
        writer.append(raw: #","request_id":"#)
        writer.append(string: requestID)
        if let details {
            let (lists, more) = Self.bounded(details.named.lists)
            writer.append(raw: #","details":{"#)
            writer.append(name: details.named.name)
            RecordList.append(lists, to: &writer)
            if more > 0 {
                writer.append(raw: #","more":"#)
                writer.append(Int64(more))
            }
            if case .conflicts(_, let present) = details, !present.isEmpty {
                writer.append(raw: #","present":"#)
                PresentRecord.append(present, to: &writer)
            }
            writer.append(raw: "}")
        }
        writer.append(raw: "}}")
        return writer.bytes
    }
}

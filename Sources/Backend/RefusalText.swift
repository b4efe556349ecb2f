// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// Finds the sentence in the body of an answer by which a backend refuses a request.
enum RefusalText {
    /// The most bytes of the sentence that are kept.
    static let limit = ForeignText.limit

    /// The members that hold the sentence, the most informative first, with those of problem details (RFC 9457).
    private static let members = [
        "message", "msg", "detail", "error_description", "error", "errors", "title", "reason",
    ]
    /// The greatest depth of the sentence, and the most sentences that are taken from a list.
    private static let (depth, count) = (4, 3)

    /// Returns the sentence in a body; nil for a web page, and if there is none.
    static func sentence(in body: String) -> String? {
        if let value = try? JSONValue.parse(Array(body.utf8)) { return sentence(in: value) }
        let text = plain(body)
        // A web page is of no use in a log.
        return text.isEmpty || text.hasPrefix("<") || text.hasPrefix("{") || text.hasPrefix("[") ? nil : text
    }

    /// Returns the sentence in an answer that is JSON.
    static func sentence(in value: JSONValue) -> String? {
        texts(in: value, depth: 0).map { ForeignText.cut($0.joined(separator: "; "), to: limit) }
    }

    /// Returns the sentences in a value; `isReason` is true inside a member that holds reasons.
    private static func texts(in value: JSONValue, depth: Int, isReason: Bool = false) -> [String]? {
        guard depth < Self.depth else { return nil }
        switch value {
        case .string(let text):
            let text = plain(text)
            return text.isEmpty ? nil : [text]
        case .array(let elements):
            let found = elements.prefix(count).compactMap { texts(in: $0, depth: depth + 1, isReason: isReason) }
            return found.isEmpty ? nil : found.flatMap(\.self)
        case .object(let own):
            let known = members.lazy.compactMap { value[$0] }
                .compactMap { texts(in: $0, depth: depth + 1, isReason: true) }.first
            return known ?? named(own, depth: depth, isReason: isReason)
        default: return nil
        }
    }

    /// Returns the sentences about single members: `{"name":["can't be blank"]}`.
    ///
    /// Outside of reasons, a plain text may be a value of the pushed record, so only lists count there.
    private static func named(_ members: [JSONValue.Member], depth: Int, isReason: Bool) -> [String]? {
        let readable = isReason ? members : members.filter { $0.value.array != nil }
        let found = readable.prefix(count).compactMap { member in
            texts(in: member.value, depth: depth + 1, isReason: isReason)
                .map { "\(plain(member.name)): \($0.joined(separator: ", "))" }
        }
        return found.isEmpty ? nil : found
    }

    /// Returns the text as one line, without characters that could deceive a reader.
    private static func plain(_ text: String) -> String {
        let words = ForeignText.cut(text, to: limit).split { $0.isWhitespace || $0.isNewline }
        return ForeignText.escaped(words.joined(separator: " "))
    }
}

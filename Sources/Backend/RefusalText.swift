// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// Finds the sentence in the body of an answer by which a backend refuses something.
enum RefusalText {
    /// The most bytes of it that are kept.
    static let limit = ForeignText.limit

    /// Members that hold it, the one that tells most first: those of problem details (RFC 9457) among them.
    private static let members = [
        "message", "msg", "detail", "error_description", "error", "errors", "title", "reason",
    ]
    /// How deep it may stand, and how many sentences of a list are taken.
    private static let (depth, count) = (4, 3)

    /// The sentence in a body; nil in a page, and where there is none.
    static func sentence(in body: String) -> String? {
        if let value = try? JSONValue.parse(Array(body.utf8)) { return sentence(in: value) }
        let text = plain(body)
        // A page is for people who look at it.
        return text.isEmpty || text.hasPrefix("<") || text.hasPrefix("{") || text.hasPrefix("[") ? nil : text
    }

    /// The sentence in an answer that is JSON.
    static func sentence(in value: JSONValue) -> String? {
        texts(in: value, depth: 0).map { ForeignText.cut($0.joined(separator: "; "), to: limit) }
    }

    /// The sentences in a value; `isReason` if a member that holds reasons has led there.
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

    /// What is said of single members: `{"name":["can't be blank"]}`.
    ///
    /// A text that stands for itself may be a value of the record that was pushed, so that only lists count outside of
    /// reasons.
    private static func named(_ members: [JSONValue.Member], depth: Int, isReason: Bool) -> [String]? {
        let told = isReason ? members : members.filter { $0.value.array != nil }
        let found = told.prefix(count).compactMap { member in
            texts(in: member.value, depth: depth + 1, isReason: isReason)
                .map { "\(plain(member.name)): \($0.joined(separator: ", "))" }
        }
        return found.isEmpty ? nil : found
    }

    /// One line, without what could deceive who reads it.
    private static func plain(_ text: String) -> String {
        let words = ForeignText.cut(text, to: limit).split { $0.isWhitespace || $0.isNewline }
        return ForeignText.escaped(words.joined(separator: " "))
    }
}

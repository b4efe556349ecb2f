// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI

/// Reads the values of a kind, and writes them in samples and documents.
struct ValueFormat<Value: Sendable>: Sendable {
    /// The kind's name in the documents, such as "duration".
    var name: String
    /// The allowed values, in words; nil if the name states them.
    var limits: String?
    /// True if an empty text is a value.
    var takesNothing = false
    /// The placeholders that have a meaning in a value, besides the parts of a sync's address; nil if there are none.
    var placeholders: Set<String>?
    /// Reads a value; mistakes beyond the first go to the problems.
    var parse: @Sendable (SourceText, inout Problems) throws(Mistake) -> Value
    /// Writes a value as a file would have it; the empty text is "none".
    var render: @Sendable (Value) -> String

    /// The same format with "nothing" as a value: an empty text is nil.
    var optional: ValueFormat<Value?> {
        let (parse, render) = (parse, render)
        return ValueFormat<Value?>(
            name: name, limits: limits, takesNothing: true, placeholders: placeholders,
            parse: { (value, problems) throws(Mistake) -> Value? in
                value.isEmpty ? nil : try parse(value, &problems)
            },
            render: { $0.map(render) ?? "" })
    }

    /// The most values that a list may have.
    static var maximumItems: Int { 1000 }

    /// Creates the format of a comma list of such values without repetitions; an empty text is the empty list.
    func list(atLeast minimum: Int = 0) -> ValueFormat<[Value]> where Value: Hashable {
        let (parse, render) = (parse, render)
        return ValueFormat<[Value]>(
            name: "\(name), \(name), …", limits: limits, takesNothing: true,
            parse: { (value, problems) throws(Mistake) -> [Value] in
                let parts = value.split()
                guard parts.count <= Self.maximumItems else {
                    throw Mistake(
                        "expected at most \(Self.maximumItems) values, found \(parts.count)", at: value.span)
                }
                var items: [Value] = []
                var hasFailed = false
                for part in parts {
                    do throws(Mistake) {
                        guard !part.isEmpty else { throw Mistake("expected a value between the commas", at: part.span) }
                        let item = try parse(part, &problems)
                        guard !items.contains(item) else {
                            throw Mistake("'\(part.shown)' is in the list twice", at: part.span)
                        }
                        items.append(item)
                    } catch {
                        problems.report(error)
                        hasFailed = true
                    }
                }
                guard items.count >= minimum || hasFailed else {
                    throw Mistake("expected at least \(minimum) value, found nothing", at: value.endSpan)
                }
                return items
            },
            render: { $0.map(render).joined(separator: ", ") })
    }

    /// Adds a condition, which gets the value and the text that a message may show.
    func checked(
        limits: String? = nil, _ check: @escaping @Sendable (Value, String) -> (message: String, hint: String?)?
    ) -> Self {
        let parse = parse
        var result = self
        if let limits { result.limits = limits }
        result.parse = { (text, problems) throws(Mistake) -> Value in
            let value = try parse(text, &problems)
            if let defect = check(value, text.shown) { throw Mistake(defect.message, at: text.span, hint: defect.hint) }
            return value
        }
        return result
    }
}

extension ValueFormat where Value == String {
    /// Creates the format of a text on one line, in quotes or without.
    static func text(_ name: String = "text", limit: Int = 4096) -> Self {
        ValueFormat(
            name: name,
            parse: { (value, _) throws(Mistake) -> String in
                let text = try value.unquoted()
                guard !text.isEmpty else {
                    throw Mistake("expected \(article(name)), found nothing", at: value.endSpan)
                }
                guard text.utf8.count <= limit else {
                    throw Mistake("expected at most \(limit) bytes, found \(text.utf8.count)", at: value.span)
                }
                guard !text.unicodeScalars.contains(where: { $0.value < 32 }) else {
                    throw Mistake("expected one line without control characters", at: value.span)
                }
                return text
            },
            render: { $0 })
    }

    /// Creates the format of one word of a kind.
    static func word(_ name: String, _ isPart: @escaping @Sendable (Unicode.Scalar) -> Bool) -> Self {
        text(name, limit: 200).checked { text, shown in
            text.unicodeScalars.allSatisfy(isPart) ? nil : ("expected \(article(name)), found '\(shown)'", nil)
        }
    }

    /// The name of a member of a JSON object or of a query.
    static var memberName: Self { word("name") { $0.isPathPart || $0 == "." } }

    /// The name of a query's parameter that can also be a placeholder.
    static var parameterName: Self { word("name") { $0.isWordPart } }

    /// A wire type.
    static var wireType: Self {
        text("type", limit: 200).checked { TokenReader.isTypeName($0) ? nil : ("'\($1)' is no type name", nil) }
    }

    /// The name of a header field, in lower case (RFC 9110, 5.6.2).
    static var fieldName: Self {
        let name = text("header field", limit: 100)
            .checked {
                $0.unicodeScalars.allSatisfy(\.isTokenPart) ? nil : ("'\($1)' is no name of a header field", nil)
            }
        return ValueFormat(
            name: "header field",
            parse: { (value, problems) throws(Mistake) in try name.parse(value, &problems).lowercased() },
            render: { $0 })
    }
}

extension ValueFormat where Value == Bool {
    /// `true` or `false`.
    static var boolean: Self {
        ValueFormat(
            name: "true or false",
            parse: { (value, _) throws(Mistake) -> Bool in
                switch value.string {
                case "true": return true
                case "false": return false
                default:
                    let usual = ["yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"]
                    throw Mistake(
                        "expected 'true' or 'false', found '\(value.shown)'", at: value.span,
                        hint: usual[value.string.lowercased()].map { "write '\($0)'" })
                }
            },
            render: { $0 ? "true" : "false" })
    }
}

extension ValueFormat where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of a few words.
    static var choice: Self {
        let names = Value.allCases.map(\.rawValue)
        return ValueFormat(
            name: names.joined(separator: " | "),
            parse: { (value, _) throws(Mistake) -> Value in
                guard let choice = Value(rawValue: value.string) else {
                    throw Mistake(
                        "expected one of \(names.joined(separator: ", ")), found '\(value.shown)'", at: value.span,
                        hint: value.hasInsertedText ? nil : NearestName.hint(for: value.string, among: names))
                }
                return choice
            },
            render: { $0.rawValue })
    }
}

extension Unicode.Scalar {
    /// True if the character may be in a token (RFC 9110, 5.6.2), such as the name of a header field.
    var isTokenPart: Bool { isWordPart || "!#$%&'*+-.^`|~".unicodeScalars.contains(self) }
}

/// Adds the article to a noun, for messages.
func article(_ noun: String) -> String {
    let isVowel = noun.first.map { "aeiouAEIO".contains($0) } ?? false
    return (isVowel ? "an " : "a ") + noun
}

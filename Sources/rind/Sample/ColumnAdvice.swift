// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel

/// The observed values of a column that fit its type.
struct ValueFacts {
    /// The number of values that are not the default.
    var values = 0
    /// The number of texts that name a point in time.
    var dates = 0
    /// Such a text.
    var dateExample: String?
    /// The number of values that would be seconds since 1970 by their size: 1973 to 5138.
    var seconds = 0
    /// The number of values that would be microseconds by their size.
    var micros = 0

    /// Notes a value as an app gets it.
    mutating func note(_ value: JSONValue, _ type: ColumnType) {
        switch value {
        case .string(let text) where !text.isEmpty:
            values += 1
            guard type == .string, text.utf8.count >= 10, text.utf8.contains(UInt8(ascii: "-")) else { return }
            let isDate = Array(text.utf8).withUnsafeBytes { ISOTimestamp.milliseconds(of: $0) != nil }
            guard isDate else { return }
            dates += 1
            dateExample = dateExample ?? text
        case .number(let number):
            guard let value = number.double, value != 0 else { return }
            values += 1
            if value >= 100_000_000, value < 100_000_000_000 { seconds += 1 }
            if value >= 100_000_000_000_000 { micros += 1 }
        case .bool(true): values += 1
        default: return
        }
    }
}

/// The suspected mistakes of one column.
struct ColumnAdvice {
    let table: String
    let column: Column
    let facts: ProjectionObserver.ColumnFacts
    let records: Int
    let values: ValueFacts?
    /// The members of the table's rows that no column takes, in the order in which they came; at most a few.
    var unmapped: [String] = []

    /// The advice, a remark for each suspicion.
    var remarks: [SampleRemark] {
        // A column that the configuration itself gives a value is never looked up.
        guard records > 0 else { return [] }
        return [wrongType, spelling, missing, text, size].compactMap { $0 }
    }

    private var name: String { "\(table).\(column.name)" }

    private func remark(_ certainty: SampleRemark.Certainty, _ text: String) -> SampleRemark {
        SampleRemark(certainty, "\(name): \(text)", hint: "[columns \(table)] \(column.name), read from \(paths)")
    }

    /// The default that an app gets instead of a value that does not fit.
    private var fallback: String {
        if let value = column.fallback { return ColumnLine.text(value) }
        if column.isOptional { return "null" }
        switch column.type {
        case .string, .json: return "\"\""
        case .number, .timestamp: return "0"
        case .boolean: return "false"
        }
    }

    private var wrongType: SampleRemark? {
        guard facts.wrong > 0 else { return nil }
        let example = facts.wrongExample.map { ", such as \($0.shown(upTo: 40))" } ?? ""
        let certainty: SampleRemark.Certainty = facts.values == 0 ? .certain : .likely
        let count = facts.values + facts.wrong
        let head = "\(facts.wrong) of \(count) values do not fit '\(column.type.rawValue)'\(example)"
        let remedy = facts.wrongIsDate ? "; make a date a 'timestamp'" : better.map { "; '\($0)' would take it" }
        return remark(certainty, head + "; apps get \(fallback)" + (wordsRemedy ?? remedy ?? ""))
    }

    private var wordsRemedy: String? {
        words.map { words in
            "; if these are its words for true and false: \(ColumnLine(column: column, addition: words.attribute))"
                + (words.isGuess ? ", or the other way round" : "")
        }
    }

    /// The attribute for the two words that came; nil if there are others, or both mean the same.
    private var words: (attribute: String, isGuess: Bool, isKnown: Bool)? {
        let words = facts.words.sorted()
        guard column.type == .boolean, column.words == nil, words.count == 2 else { return nil }
        let meanings = words.map(Self.meaning)
        guard meanings[0] != meanings[1] || meanings[0] == nil else { return nil }
        let yes = meanings[0] ?? meanings[1].map { !$0 } ?? false ? 0 : 1
        return (
            "true \(words[yes]) false \(words[1 - yes])", meanings.allSatisfy { $0 == nil },
            meanings.allSatisfy { $0 != nil }
        )
    }

    /// Returns what a word means by itself; nil if that is unknown.
    private static func meaning(_ word: String) -> Bool? {
        if trueWords.contains(word.lowercased()) { return true }
        let spelling = ColumnSpelling(.boolean)
        return Array(word.utf8).withUnsafeBytes { bytes in
            guard case .boolean(let value) = ColumnValue(try? JSONScanner.document(bytes), spelling) else { return nil }
            return value
        }
    }

    private static let trueWords: Set<String> = [
        "\"active\"", "\"enabled\"", "\"j\"", "\"ja\"", "\"oui\"", "\"s\"", "\"si\"",
    ]

    /// Says in which other spelling values come, and with which attribute the backend gets them back in it.
    private var spelling: SampleRemark? {
        let (count, kind) = (facts.converted, facts.convertedKind)
        guard count > 0 else { return nil }
        let head = "\(count) of \(records) values come in another spelling and are converted"
        if facts.local > 0 {
            guard column.zone == nil else { return nil }
            return remark(
                .likely,
                "\(facts.local) of \(records) times name no zone and are taken as UTC; say so, or name theirs: "
                    + "\(ColumnLine(column: column, addition: "zone UTC"))")
        }
        let addition: String?
        switch (column.type, kind) {
        case (.number, .string): addition = column.isDecimal ? nil : "decimal"
        case (.boolean, _): addition = words.flatMap { $0.isKnown ? $0.attribute : nil }
        case (.string, .number): addition = column.isSentAsNumber || column.reference != nil ? nil : "as number"
        case (.timestamp, .string):
            let format: Column.TimestampFormat = isHTTP ? .http : .date
            addition = column.timestampFormat == format ? nil : "as \(format.rawValue)"
        default: addition = nil
        }
        guard let addition, !column.isReadonly, column.type != .timestamp || isHTTP || isDay else { return nil }
        return remark(
            .possible, head + "; for the backend to get them back so: \(ColumnLine(column: column, addition: addition))"
        )
    }

    /// True if the times that were converted are days without a time.
    private var isDay: Bool { facts.convertedExample?.wholeMatch(of: #/"\d{4}-\d\d-\d\d"/#) != nil }

    /// True if the times that were converted are HTTP dates.
    private var isHTTP: Bool { facts.convertedExample?.hasSuffix("GMT\"") == true }

    private var better: String? {
        switch facts.wrongKind {
        case .string: "string"
        case .number: [.string, .boolean].contains(column.type) ? "number" : nil
        case .boolean: "boolean"
        case .object, .array: column.type == .string ? "string … json" : "json"
        case .null, nil: nil
        }
    }

    private var paths: String {
        column.sources.compactMap { source -> String? in
            guard case .path(let path, let types) = source else { return nil }
            return "'\(path)'" + (types.isEmpty ? "" : " in \(types.joined(separator: ", "))")
        }.joined(separator: " and ")
    }

    /// The number of records from which on a member that never comes is no accident.
    private static let fewRecords = 2

    private var missing: SampleRemark? {
        let without = facts.nulls + facts.absent
        if facts.absent == records {
            // Some backends leave out what is null, or has its default: in one record that may be so.
            let isCertain = !column.isOptional && records >= Self.fewRecords
            return remark(
                isCertain ? .likely : .possible,
                "never present in \(of(records)); looked for \(paths)"
                    + (unmapped.isEmpty ? "" : ", and no column takes '\(unmapped.joined(separator: "', '"))'"))
        }
        guard !column.isOptional, without > 0 else { return nil }
        if without == records {
            return remark(.possible, "always \(fallback) in \(of(records)); \(paths) never had a value")
        }
        return remark(
            .possible,
            "no value in \(without) of \(records) records; apps get \(fallback), or null with "
                + "'\(column.type.rawValue)?'")
    }

    private func of(_ count: Int) -> String { count == 1 ? "1 record" : "\(count) records" }

    private var text: SampleRemark? {
        guard let values, values.dates > 0, values.dates == values.values else { return nil }
        return remark(
            .possible,
            "every text is a date, such as '\(values.dateExample ?? "")'; where the app's column is a number, make it a "
                + "'timestamp'")
    }

    private var size: SampleRemark? {
        guard column.type == .timestamp, let values, values.values > 0 else { return nil }
        if values.seconds == values.values {
            return remark(
                .likely,
                "every value looks like seconds; apps read milliseconds: "
                    + "\(ColumnLine(column: column, addition: "as seconds"))")
        }
        guard values.micros == values.values else { return nil }
        if column.timestampFormat == .seconds {
            return remark(.likely, "every value looks like milliseconds; leave out 'as seconds', or set 'as millis'")
        }
        return remark(.likely, "every value looks like microseconds; apps read milliseconds")
    }
}

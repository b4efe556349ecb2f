// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import HTTPTypes

/// Header fields, as curl takes them, for commands that send requests.
struct HeaderArguments: ParsableArguments {
    @Option(
        name: [.customShort("H"), .long],
        help: ArgumentHelp("A header field, as curl takes it; may be repeated.", valueName: "name: value"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with such fields, one a line: the list of processes shows arguments. '-' is standard input.",
            valueName: "file"))
    var headerFile: String?

    func validate() throws {
        for text in header where Self.field(text) == nil {
            throw ValidationError("'\(text)' is no header field; write 'Name: value'.")
        }
    }

    /// All of them.
    ///
    /// - Throws: ``CommandFailure`` if the file cannot be read, or a line of it is no field; its text is not repeated.
    var fields: HTTPFields {
        get throws {
            var fields = HTTPFields()
            for field in header.compactMap(Self.field) { fields.append(field) }
            for field in try fileFields() { fields.append(field) }
            return fields
        }
    }

    /// The fields of one account or two.
    struct Accounts {
        var first: HTTPFields
        /// The second account; it shares the fields that are there once.
        var second: HTTPFields?
    }

    /// All of them, by account: a field that is there twice is the first account's, and then the second's.
    ///
    /// - Throws: As ``fields``, and if a field is there more often.
    var accounts: Accounts {
        get throws {
            var (first, later) = (HTTPFields(), HTTPFields())
            for field in try fields {
                switch (first[field.name], later[field.name]) {
                case (nil, _): first.append(field)
                case (_, nil): later.append(field)
                default:
                    throw CommandFailure(
                        .usage, "The field '\(field.name)' is there three times: two accounts are the most.")
                }
            }
            guard !later.isEmpty else { return Accounts(first: first) }
            var second = first
            for field in later { second[field.name] = field.value }
            guard second != first else { throw CommandFailure(.usage, "The second credential is the first one.") }
            return Accounts(first: first, second: second)
        }
    }

    private func fileFields() throws -> [HTTPField] {
        guard let headerFile else { return [] }
        let data: Data
        do {
            data =
                headerFile == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(filePath: headerFile))
        } catch {
            throw CommandFailure(.noInput, "The file of '--header-file' cannot be read: \(headerFile).")
        }
        let lines = String(decoding: data, as: UTF8.self).split(omittingEmptySubsequences: false) { $0.isNewline }
        return try lines.enumerated().compactMap { index, line in
            guard line.contains(where: { !$0.isWhitespace }) else { return nil }
            guard let field = Self.field(String(line)) else {
                throw CommandFailure(
                    .badData, "Line \(index + 1) of \(headerFile) is no header field; write 'Name: value'.")
            }
            return field
        }
    }

    private static func field(_ text: String) -> HTTPField? {
        guard let colon = text.firstIndex(of: ":"), let name = HTTPField.Name(String(text[..<colon])) else {
            return nil
        }
        let value = text[text.index(after: colon)...].drop { $0 == " " }
        guard HTTPField.isValidValue(String(value)) else { return nil }
        return HTTPField(name: name, value: String(value))
    }
}

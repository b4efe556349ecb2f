// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Inserts the values of variables and the contents of files into the values that refer to them.
package struct Substitution: Sendable {
    /// A reason why a file could not be inserted, worded to follow "cannot read 'PATH': ".
    package struct FileError: Error, Sendable {
        /// The reason.
        package var reason: String
        /// Creates an error with a reason.
        package init(_ reason: String) { self.reason = reason }
    }

    /// The most characters that a value may have, before and after substitution.
    package static let maximumValueLength = 64 << 10
    /// The most bytes that an inserted file may have.
    package static let maximumFileBytes = 64 << 10

    private let environment: [String: String]
    private let isOpen: @Sendable (String) -> Bool
    private let readFile: @Sendable (String) throws(FileError) -> [UInt8]

    /// Creates a substitution from these variables and this reader; `isOpen` returns true if every user may read a
    /// file.
    package init(
        environment: [String: String], isOpen: @escaping @Sendable (String) -> Bool = { _ in false },
        readFile: @escaping @Sendable (String) throws(FileError) -> [UInt8]
    ) {
        self.environment = environment
        self.isOpen = isOpen
        self.readFile = readFile
    }

    /// Returns the path of the file that a value is taken from, if every user of the machine may read it.
    package func openFile(of value: SourceText) -> SourceText? {
        guard let path = try? path(in: resolveVariables(value)), isOpen((try? path.unquoted()) ?? "") else {
            return nil
        }
        return path
    }

    /// Resolves every `${VAR}`, and a value that consists of `@file:PATH`; `PATH` may contain variables.
    ///
    /// Inserted text is marked as such and not resolved again. A variable that is not set, a file that cannot be read
    /// and a file that is not text are mistakes.
    package func resolve(_ value: SourceText) throws(Mistake) -> SourceText {
        try checkLength(value)
        let value = try resolveVariables(value)
        try checkLength(value)
        guard let path = path(in: value) else { return value }
        guard !path.isEmpty else { throw Mistake("expected a path after '@file:'", at: path.endSpan) }
        let bytes: [UInt8]
        do { bytes = try readFile(path.unquoted()) } catch let error as FileError {
            throw Mistake(
                "cannot read '\(path.shown)': \(error.reason)", at: value.span,
                hint: "the value is the content of that file; for a key, make it with 'openssl rand -hex 32'")
        } catch let mistake as Mistake { throw mistake } catch {
            throw Mistake("cannot read '\(path.shown)'", at: value.span)
        }
        guard bytes.count <= Self.maximumFileBytes else {
            throw Mistake(
                "'\(path.shown)' has \(bytes.count) bytes, expected at most \(Self.maximumFileBytes)", at: value.span)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains("\0") else {
            throw Mistake(
                "'\(path.shown)' is not UTF-8 text", at: value.span,
                hint: "keep binary keys as text, such as base64 or hexadecimal digits")
        }
        return insert(Self.withoutFinalNewline(text), for: value)
    }

    /// Returns the text after `@file:`; nil if the value does not begin with that.
    private func path(in value: SourceText) -> SourceText? {
        let marker = Array("@file:".unicodeScalars)
        guard value.characters.count >= marker.count,
            zip(value.characters, marker).allSatisfy({ $0.isSyntax($1) })
        else { return nil }
        return value[(value.characters.startIndex + marker.count)..<value.characters.endIndex].trimmed
    }

    private func checkLength(_ value: SourceText) throws(Mistake) {
        guard value.characters.count > Self.maximumValueLength else { return }
        throw Mistake(
            "the value has \(value.characters.count) characters, expected at most \(Self.maximumValueLength)",
            at: value.span)
    }

    private func resolveVariables(_ value: SourceText) throws(Mistake) -> SourceText {
        let characters = value.characters
        guard characters.contains(where: { $0.scalar == "$" }) else { return value }
        var result: [SourceText.Character] = []
        var index = characters.startIndex
        while index < characters.endIndex {
            guard characters[index].isSyntax("$"), index + 1 < characters.endIndex,
                characters[index + 1].isSyntax("{")
            else {
                result.append(characters[index])
                index += 1
                continue
            }
            guard let close = characters[index...].firstIndex(where: { $0.scalar == "}" }) else {
                throw Mistake("expected '}' after the variable's name", at: value.endSpan)
            }
            let reference = value[index..<(close + 1)]
            let name = value[(index + 2)..<close]
            guard !name.isEmpty, name.characters.allSatisfy(\.scalar.isNamePart) else {
                throw Mistake("'\(reference.shown)' does not name a variable", at: reference.span)
            }
            guard let text = environment[name.string] else {
                throw Mistake(
                    "variable '\(name.string)' is not set", at: reference.span,
                    hint: NearestName.hint(for: name.string, among: environment.keys.sorted()))
            }
            result += insert(text, for: reference).characters
            index = close + 1
        }
        let start = value.span
        return SourceText(source: value.source, characters: result[...], emptyAt: start.line, start.column)
    }

    private func insert(_ text: String, for reference: SourceText) -> SourceText {
        let span = reference.span
        let characters = text.unicodeScalars.map {
            SourceText.Character(
                scalar: $0, line: span.line, column: span.column, width: span.length, isInserted: true)
        }
        return SourceText(source: reference.source, characters: characters[...], emptyAt: span.line, span.column)
    }

    private static func withoutFinalNewline(_ text: String) -> String {
        var scalars = text.unicodeScalars
        if scalars.last == "\n" { scalars.removeLast() }
        if scalars.last == "\r" { scalars.removeLast() }
        return String(scalars)
    }
}

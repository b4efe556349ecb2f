// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Reads lines: comments, section headers, entries and the lines that continue them.
struct Lexer {
    private enum Open {
        /// A value that further lines may continue.
        case entry(key: Located<String>)
        /// A refused line; its continuation lines are refused silently with it.
        case refused
        case nothing
    }

    private struct Name: Hashable {
        var section: Int
        var key: String
    }

    let source: Int
    var problems: Problems
    private(set) var sections: [Document.Section] = []
    private var current: Int?
    private var sectionIndices: [String: Int] = [:]
    private var entryIndices: [Name: Int] = [:]
    private var open = Open.nothing
    private var value: [SourceText.Character] = []
    private var valueStart: Span?
    private var isBroken = false
    private var nesting = Nesting()
    private var openBrace: Span?

    init(source: Int, problems: Problems) {
        self.source = source
        self.problems = problems
    }

    /// Reads the next line.
    mutating func read(_ line: [Unicode.Scalar], number: Int) {
        let characters = line.enumerated().map { SourceText.Character(scalar: $1, line: number, column: $0 + 1) }
        let text = SourceText(source: source, characters: characters[...], emptyAt: number, 1)
        guard let first = line.first, !text.trimmed.isEmpty else { return }
        switch first {
        case "#": break
        case " ", "\t": continueEntry(text)
        case "[":
            closeEntry()
            readHeader(text)
        default:
            closeEntry()
            readEntry(text)
        }
    }

    /// Ends the value that was being read.
    mutating func closeEntry() {
        defer { (open, value, isBroken, nesting, openBrace) = (.nothing, [], false, Nesting(), nil) }
        guard case .entry(let key) = open else { return }
        if nesting.depth > 0, !isBroken, let openBrace {
            problems.error(
                "this '{' is never closed", at: openBrace, hint: "close it, or put the value in double quotes")
            isBroken = true
        }
        let start = valueStart ?? key.span
        let text = SourceText(source: source, characters: value[...], emptyAt: start.line, start.column)
        guard let section = current else { return problems.mask(text) }
        let name = Name(section: section, key: key.value)
        if let index = entryIndices[name] {
            let first = sections[section].entries[index]
            problems.error(
                "key '\(key.value)' is set twice in \(sections[section].title)", at: key.span,
                hint: "keep one of the two lines", second: .init("first set here", at: first.key.span))
            hideIfSecret(word: key.value, text)
            hideIfSecret(word: first.key.value, first.value)
            return
        }
        entryIndices[name] = sections[section].entries.count
        sections[section].entries.append(Document.Entry(key: key, value: text, isBroken: isBroken))
    }

    private mutating func readHeader(_ text: SourceText) {
        current = nil
        let header = withoutComment(text)
        guard let close = header.characters.firstIndex(where: { $0.scalar == "]" }) else {
            problems.error("expected ']' at the end of the section's name", at: header.trimmed.endSpan)
            return refuse()
        }
        let rest = header[(close + 1)..<header.characters.endIndex].trimmed
        if !rest.isEmpty {
            problems.error(
                "expected nothing after ']', found '\(rest.shown)'", at: rest.span,
                hint: "a comment behind a section's name begins with ' ;'")
        }
        let words = header[(header.characters.startIndex + 1)..<close].trimmed.words
        guard let kind = words.first, words.count <= 2 else {
            problems.error(
                "expected '[kind]' or '[kind name]', found '\(header.trimmed.shown)'", at: header.trimmed.span)
            return refuse()
        }
        let span = header[header.characters.startIndex..<(close + 1)].span
        let section = Document.Section(
            kind: Located(kind.string, at: kind.span),
            name: words.count == 2 ? Located(words[1].string, at: words[1].span) : nil, span: span)
        if let known = sectionIndices[section.title] {
            problems.error(
                "section \(section.title) appears twice", at: span, hint: "put the keys of both in one section",
                second: .init("it begins here", at: sections[known].span))
            current = known
            return
        }
        sectionIndices[section.title] = sections.count
        sections.append(section)
        current = sections.count - 1
    }

    private mutating func readEntry(_ text: SourceText) {
        guard let equals = text.characters.firstIndex(where: { $0.scalar == "=" }) else {
            return refuseLine(text)
        }
        let key = text[text.characters.startIndex..<equals].trimmed
        guard !key.isEmpty else {
            problems.error("expected a key before '='", at: text.span)
            return refuse()
        }
        guard key.characters.allSatisfy({ $0.scalar.isNamePart }) else {
            problems.error(
                "'\(key.shown)' is no key: expected one word of letters, digits and '_'", at: key.span)
            // The key may be a misspelt one whose value is secret, such as 'kéy'.
            problems.mask(text[equals..<text.characters.endIndex])
            return refuse()
        }
        if current == nil, sections.isEmpty {
            problems.error(
                "key '\(key.string)' stands outside of any section", at: key.span,
                hint: "put a section such as [gateway] before it")
        }
        open = .entry(key: Located(key.string, at: key.span))
        valueStart = Span(source: source, line: text.endLine, column: text.characters[equals].column + 1)
        append(text[(equals + 1)..<text.characters.endIndex])
    }

    private mutating func continueEntry(_ text: SourceText) {
        switch open {
        case .refused: break
        case .nothing:
            problems.error(
                "this line begins with white space, but there is no value that it could continue",
                at: text.trimmed.span, hint: "remove the white space at its beginning")
            hideIfSecret(word: text.trimmed.words.first?.string ?? "", text.trimmed)
            open = .refused
        case .entry(let key):
            let trimmed = text.trimmed
            if nesting.isOutside, let first = trimmed.characters.first, first.scalar == "#" {
                problems.error(
                    "a comment must begin at the start of the line", at: trimmed.span,
                    hint: "remove the white space before '#'; as it stands, the line continues '\(key.value)'")
                return
            }
            if nesting.isOutside, trimmed.looksLikeEntry {
                problems.warning(
                    "this line continues the value of '\(key.value)', because it begins with white space",
                    at: trimmed.span, hint: "remove the white space if it is a key of its own")
            }
            if nesting.isOutside, trimmed.string.contains("=") {
                hideIfSecret(word: String(trimmed.string.prefix { $0 != "=" }), trimmed)
            }
            append(text)
        }
    }

    /// Adds one line to the open value.
    private mutating func append(_ line: SourceText) {
        let piece = withoutTrailingText(line).trimmed
        guard !piece.isEmpty else { return }
        if let last = value.last { value.append(.init(scalar: "\n", line: last.line, column: last.column + 1)) }
        value += piece.characters
    }

    private func withoutComment(_ header: SourceText) -> SourceText {
        let characters = header.characters
        let start = characters.indices.first { index in
            characters[index].scalar == ";" && index > characters.startIndex && characters[index - 1].isSpace
        }
        return header[characters.startIndex..<(start ?? characters.endIndex)]
    }

    /// Cuts trailing text off, tracking quotes and braces over the lines of a value.
    private mutating func withoutTrailingText(_ line: SourceText) -> SourceText {
        let characters = line.characters
        var quote: Int?
        var index = characters.startIndex
        while index < characters.endIndex {
            let character = characters[index]
            let previous = index > characters.startIndex ? characters[index - 1] : nil
            if nesting.isOutside, character.scalar == ";", previous?.isSpace == true {
                return line[characters.startIndex..<index]
            }
            if character.scalar == "$", index + 1 < characters.endIndex, characters[index + 1].scalar == "{",
                let close = characters[index...].firstIndex(where: { $0.scalar == "}" })
            {
                index = close + 1
                continue
            }
            let before = nesting
            nesting.step(character)
            if nesting.isQuoted, !before.isQuoted { quote = index }
            if nesting.depth == 1, before.depth == 0 { openBrace = line[index..<(index + 1)].span }
            index += 1
        }
        if nesting.isQuoted, let quote {
            problems.error(
                "this quote is never closed", at: line[quote..<(quote + 1)].span,
                hint: "a string ends on its own line; write a quote inside it as \\\"")
            isBroken = true
            nesting = Nesting()
        }
        return line
    }

    private mutating func refuseLine(_ text: SourceText) {
        let shown = text.trimmed
        var hint: String?
        if shown.characters.first?.scalar == ";" || shown.string.hasPrefix("//") {
            hint = "a comment begins with '#' at the start of the line"
        } else if shown.string.contains(":") {
            hint = "write 'key = value', with an equals sign"
        }
        let first = shown.words.first ?? shown
        let isSecret = SecretNames.looksSecret(first.string)
        let found = isSecret ? "no '='" : "'\(shown.shown)'"
        problems.error("expected 'key = value', found \(found)", at: shown.span, hint: hint)
        hideIfSecret(word: first.string, shown)
        refuse()
    }

    private mutating func refuse() { open = .refused }

    private mutating func hideIfSecret(word: String, _ text: SourceText) {
        if SecretNames.looksSecret(word) || !word.utf8.allSatisfy({ $0 < 0x80 }) { problems.mask(text) }
    }
}

extension Unicode.Scalar {
    /// True if the character may be in a key: an ASCII letter, a digit or `_`.
    var isNamePart: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}

extension SourceText {
    /// The pieces between white space.
    var words: [SourceText] {
        var words: [SourceText] = []
        var start: Int?
        for index in characters.indices {
            if characters[index].isSpace {
                if let begin = start { words.append(self[begin..<index]) }
                start = nil
            } else if start == nil {
                start = index
            }
        }
        if let begin = start { words.append(self[begin..<characters.endIndex]) }
        return words
    }

    /// True if the text looks like `key = value`: one word and an equals sign with a space around it.
    fileprivate var looksLikeEntry: Bool {
        let words = words
        guard words.count >= 2, words[1].string == "=" else { return false }
        return words[0].characters.allSatisfy(\.scalar.isNamePart)
    }
}

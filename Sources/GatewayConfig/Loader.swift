// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// Reads a document into a configuration, key by key, and keeps the positions for the checks that compare several keys.
struct Loader {
    /// The most tables, and the most keys of one `[table NAME]` or `[columns NAME]`.
    static let maximumTables = 1000

    var configuration = Configuration()
    var problems: Problems
    var drafts: [TableDraft] = []
    /// The positions of the keys that the file or the environment sets.
    private(set) var positions: [String: Span] = [:]
    private(set) var brokenKeys: Set<String> = []
    /// The calls of the unnamed sections as they are written, for the checks of their placeholders.
    private(set) var writtenCalls: [(key: Key, text: SourceText)] = []

    let document: Document
    private let substitution: Substitution
    private var draftIndices: [String: Int] = [:]
    private var zones = ZoneNames()

    init(document: Document, substitution: Substitution, problems: Problems) {
        self.document = document
        self.substitution = substitution
        self.problems = problems
    }

    /// Returns the position of a key of an unnamed section; nil if the key has its default.
    func position(_ section: String, _ key: String) -> Span? { positions["\(section).\(key)"] }

    /// Returns true if a key's value was refused, so that checks skip it.
    func isBroken(_ section: String, _ key: String) -> Bool { brokenKeys.contains("\(section).\(key)") }

    /// Notes that a check has refused a key's value.
    mutating func markBroken(_ key: Key) { brokenKeys.insert("\(key.section).\(key.name)") }

    /// Reads all sections and overrides, and checks the result.
    mutating func load(environment: [String: String]) {
        let overrides = self.overrides(environment)
        maskSecrets()
        for section in document.sections where !problems.isFull { read(section, overridden: Set(overrides.keys)) }
        for (_, override) in overrides.sorted(by: { $0.key < $1.key }) { apply(override) }
        checkRequired()
        finishSchema()
    }

    /// Hides every value that is secret or may be, before any report on its line.
    private mutating func maskSecrets() {
        for section in document.sections {
            let known = KeyTable.keys(of: section.kind.value)
            let isSensitive = known.contains(where: \.isSecret)
            for entry in section.entries {
                let key = known.first { $0.name == entry.key.value }
                // A misspelt key may hold a value that the right one would have kept secret, and a key with a wrong
                // value may hold that of the secret one.
                let isLong = isSensitive && !entry.value.string.contains(" ") && entry.value.string.utf8.count >= 32
                let isSecret =
                    isLong || key?.isSecret ?? (isSensitive || SecretNames.looksSecret(entry.key.value))
                // Names of columns are the app's own, and their values are not secret.
                if isSecret, section.kind.value != "columns" { problems.mask(entry.value) }
                // The URL of a database may hold a password, under whatever name it stands there.
                if StateLocation.isPostgres(entry.value.string.trimming("\"")) { problems.mask(entry.value) }
            }
        }
    }

    private mutating func read(_ section: Document.Section, overridden: Set<String>) {
        let kind = section.kind.value
        let names = KeyTable.sections.map(\.name)
        if KeyTable.namedSections.contains(kind) {
            guard let name = section.name else {
                problems.error(
                    "section [\(kind)] needs a name", at: section.span,
                    hint: "write [\(kind) albums] for the table albums")
                return
            }
            readNamed(section, name: name)
        } else if names.contains(kind) {
            if let name = section.name {
                problems.error("section [\(kind)] takes no name", at: name.span)
                return
            }
            for entry in section.entries where !problems.isFull { read(entry, of: section, overridden: overridden) }
        } else {
            problems.error(
                "unknown section [\(kind)]", at: section.kind.span,
                hint: NearestName.hint(for: kind, among: names + KeyTable.namedSections)
                    ?? "the sections are \((names + KeyTable.namedSections).joined(separator: ", "))")
        }
    }

    private mutating func read(_ entry: Document.Entry, of section: Document.Section, overridden: Set<String>) {
        let kind = section.kind.value
        let path = "\(kind).\(entry.key.value)"
        guard let key = KeyTable.key(kind, entry.key.value) else {
            return reportUnknown(entry, kind: kind, title: section.title)
        }
        guard !overridden.contains(path) else { return }
        positions[path] = entry.key.span
        guard !entry.isBroken else {
            brokenKeys.insert(path)
            return
        }
        set(key, to: entry.value)
    }

    private mutating func set(_ key: Key, to raw: SourceText) {
        guard case .setting(let read) = key.reader else { return }
        do throws(Mistake) {
            let before = problems.count
            let value = try substitution.resolve(raw)
            if value.isEmpty, !key.takesNothing {
                throw Mistake("'\(key.name)' has no value: expected \(key.type)", at: raw.endSpan)
            }
            try read(value, &configuration, &problems)
            if key.placeholders != nil, !value.isEmpty { writtenCalls.append((key, value)) }
            if problems.count > before { brokenKeys.insert("\(key.section).\(key.name)") }
            guard key.isSecret, let path = substitution.openFile(of: raw) else { return }
            problems.warning(
                "everybody on this machine can read '\(path.shown)'", at: raw.span,
                hint: "chmod 600, and let it belong to the user that runs 'rind serve'")
        } catch {
            problems.report(error)
            brokenKeys.insert("\(key.section).\(key.name)")
        }
    }

    private mutating func readNamed(_ section: Document.Section, name: Located<String>) {
        guard let index = draft(name, isTable: section.kind.value == "table", header: section.span) else { return }
        if section.entries.count > Self.maximumTables {
            problems.error("\(section.title) has more than \(Self.maximumTables) keys", at: section.span)
        }
        for entry in section.entries.prefix(Self.maximumTables) {
            if section.kind.value == "columns" {
                readColumn(entry, into: index)
            } else if let key = KeyTable.key("table", entry.key.value) {
                readTableKey(key, entry, into: index)
            } else {
                reportUnknown(entry, kind: "table", title: section.title)
            }
        }
    }

    private mutating func draft(_ name: Located<String>, isTable: Bool, header: Span) -> Int? {
        let index = draftIndices[name.value] ?? drafts.count
        if index == drafts.count {
            guard index < Self.maximumTables else {
                problems.error("there are more than \(Self.maximumTables) tables", at: header)
                return nil
            }
            if let defect = Names.defect(ofTable: name.value) { problems.error(defect, at: name.span) }
            drafts.append(TableDraft(name: name))
            draftIndices[name.value] = index
        }
        if isTable { drafts[index].tableSpan = header } else { drafts[index].columnsSpan = header }
        return index
    }

    private mutating func readTableKey(_ key: Key, _ entry: Document.Entry, into index: Int) {
        drafts[index].present.insert(key.name)
        guard !entry.isBroken, case .table(let read) = key.reader else {
            drafts[index].broken.insert(key.name)
            return
        }
        do throws(Mistake) {
            let value = try substitution.resolve(entry.value)
            guard !value.isEmpty else {
                throw Mistake("'\(key.name)' has no value: expected \(key.type)", at: entry.value.endSpan)
            }
            try read(value, &drafts[index], &problems)
        } catch {
            if !error.isReported { problems.report(error) }
            drafts[index].broken.insert(key.name)
        }
    }

    private mutating func readColumn(_ entry: Document.Entry, into index: Int) {
        let name = entry.key
        if let defect = Names.defect(ofColumn: name.value) {
            problems.error(defect.message, at: name.span, hint: defect.hint)
        }
        do throws(Mistake) {
            guard !entry.isBroken else {
                drafts[index].broken.insert("column \(name.value)")
                return
            }
            let column = try ColumnParser.parse(try substitution.resolve(entry.value), name: name, &zones)
            if let defect = Names.defect(of: column.column) {
                problems.error(defect, at: entry.value.span)
            }
            drafts[index].columns.append(column)
        } catch {
            problems.report(error)
            drafts[index].broken.insert("column \(name.value)")
        }
    }

    private mutating func reportUnknown(_ entry: Document.Entry, kind: String, title: String) {
        let name = entry.key.value
        let known = KeyTable.keys(of: kind)
        var hint = KeyTable.keys.first { $0.name == name }.map { other in
            "'\(name)' belongs into \(other.section == "table" ? "a [table NAME]" : "[\(other.section)]")"
        }
        // A name that is known elsewhere is not a misspelling of a similar one.
        hint = hint ?? NearestName.hint(for: name, among: known.map(\.name))
        problems.error(
            "unknown key '\(name)' in \(title)", at: entry.key.span, hint: hint ?? "run 'rind keys' for the full list")
    }

    private mutating func checkRequired() {
        for key in KeyTable.keys where key.isRequired && key.section != "table" {
            guard position(key.section, key.name) == nil else { continue }
            let header = document.section(key.section)?.span
            problems.error(
                "missing key '\(key.name)' in [\(key.section)]", at: header ?? Span(source: 0, line: 1, column: 1),
                hint:
                    "add '\(key.name) = \(key.example ?? "…")'\(header == nil ? " in a section [\(key.section)]" : "")")
        }
    }
}

extension Loader {
    /// A key that the environment sets.
    struct Override {
        var key: Key
        var value: SourceText
    }

    /// Finds the variables that set keys, and reports those that name a section but none of its keys.
    private mutating func overrides(_ environment: [String: String]) -> [String: Override] {
        var overrides: [String: Override] = [:]
        for (variable, value) in environment.sorted(by: { $0.key < $1.key }) where variable.hasPrefix("RIND_") {
            let rest = variable.dropFirst(5)
            let section = (KeyTable.sections.map(\.name) + KeyTable.namedSections).first {
                let name = $0.uppercased()
                return rest == name || rest.hasPrefix(name + "_")
            }
            guard let section else { continue }
            let source = problems.register(SourceFile(name: "environment:\(variable)", line: value))
            let text = SourceText(line: value, source: source)
            let span = Span(source: source, line: 1, column: 1)
            if KeyTable.namedSections.contains(section) {
                problems.mask(text)
                problems.warning(
                    "'\(variable)' has no effect: named sections cannot be set from the environment", at: span)
                continue
            }
            let name = rest.dropFirst(section.count + 1).lowercased()
            guard let key = KeyTable.key(section, name), variable == key.variable else {
                problems.mask(text)
                let known = KeyTable.keys.compactMap(\.variable)
                let elsewhere = KeyTable.keys.first { $0.name == name }?.variable.map { "did you mean '\($0)'?" }
                problems.error(
                    "'\(variable)' sets no key: [\(section)] has no '\(name)'", at: span,
                    hint: elsewhere ?? NearestName.hint(for: variable, among: known))
                continue
            }
            if key.isSecret || StateLocation.isPostgres(value.trimming("\"")) { problems.mask(text) }
            overrides["\(section).\(key.name)"] = Override(key: key, value: text.trimmed)
        }
        return overrides
    }

    private mutating func apply(_ override: Override) {
        positions["\(override.key.section).\(override.key.name)"] = override.value.span
        set(override.key, to: override.value)
    }
}

extension String {
    /// Returns the text without a character that it begins with several times.
    fileprivate func trimming(_ character: Character) -> String { String(drop { $0 == character }) }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import LineProjection
package import SyncModel

/// Searches the lines of a stream for records whose creation has an unknown outcome.
///
/// It reads beside the other readers of the stream. It holds no more than the id of each row, and for each creation
/// that is searched by its values no more than a few candidates.
package struct CreationSearch: Sendable {
    /// The mark by which a record is recognised.
    package enum Mark: Hashable, Sendable {
        /// The client's id stands there (`create … ref`).
        case reference(Path)
        /// All of these values stand at their paths (`match`).
        case values([Value])

        /// A value where the backend has it.
        package struct Value: Hashable, Sendable {
            /// The path of the value.
            package var path: Path
            /// The column whose value it is.
            package var column: Column
            /// The value, as it was sent.
            package var value: JSONValue
            /// Creates a value at a path.
            package init(path: Path, column: Column, value: JSONValue) {
                self.path = path
                self.column = column
                self.value = value
            }
        }
    }

    /// A creation that is looked for.
    package struct Subject: Hashable, Sendable {
        /// The index of its operation.
        package var index: Int
        /// The table's index in the schema.
        package var table: Int
        /// The client's id.
        package var id: String
        /// The mark by which it is recognised.
        package var mark: Mark
        /// Creates a creation.
        package init(index: Int, table: Int, id: String, mark: Mark) {
            self.index = index
            self.table = table
            self.id = id
            self.mark = mark
        }
    }

    /// The most candidates; a record with more counts as not found.
    private static let maximumCandidates = 16

    private struct Target {
        let table: Int
        let ids: [Path]
    }

    private struct SoughtValue {
        let path: Path
        let spelling: ColumnSpelling
        let meaning: JSONValue
    }

    private let rules: EnvelopeRules
    private let subjects: [Subject]
    private let targets: [String: Target]
    /// The subjects by their client ids, by table and path.
    private let references: [Int: [(path: Path, subjects: [String: Int])]]
    private var splitter: LineSplitter
    /// The values by which the subjects are searched, each as its column has it.
    private let sought: [[SoughtValue]]
    /// The ids of the candidate rows, by subject.
    private var candidates: [Int: Set<String>] = [:]

    /// Creates a search for these creations in streams of a schema.
    package init(_ subjects: [Subject], schema: Schema, rules: EnvelopeRules, maximumLine: Int = 8 << 20) {
        self.subjects = subjects
        self.rules = rules
        sought = subjects.map { subject in
            guard case .values(let values) = subject.mark else { return [] }
            return values.map { value in
                let spelling = ColumnSpelling(value.column, of: .backend)
                let meaning = value.value.serialised.withUnsafeBytes { bytes in
                    ColumnValue(try? JSONScanner.document(bytes, maximumDepth: .max), spelling).meaning
                }
                return SoughtValue(path: value.path, spelling: spelling, meaning: meaning)
            }
        }
        splitter = LineSplitter(maximumLength: maximumLine)
        var targets: [String: Target] = [:]
        var references: [Int: [Path: [String: Int]]] = [:]
        for (index, subject) in subjects.enumerated() {
            let table = schema.tables[subject.table]
            for type in table.upserts {
                targets[type] = Target(
                    table: subject.table, ids: table.idRule(for: type)?.paths ?? [Path(name: "id")])
            }
            if case .reference(let path) = subject.mark {
                references[subject.table, default: [:]][path, default: [:]][subject.id] = index
            }
        }
        self.targets = targets
        self.references = references.mapValues { paths in paths.map { (path: $0.key, subjects: $0.value) } }
    }

    /// Prepares for the first byte of a stream request; a line that an earlier one left unfinished is dropped.
    package mutating func beginRequest() { _ = splitter.finish() }

    /// Takes the next bytes of the stream.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        var splitter = splitter
        splitter.feed(bytes) { event in if case .line(let line) = event { take(line) } }
        self.splitter = splitter
    }

    /// Returns the ids of the found records, by the indices of the operations.
    ///
    /// A record that is searched by its values counts if exactly one row has them that is not another record's.
    ///
    /// - Parameter taken: The ids, by table, that are known to be other records'.
    /// - Returns: Only found records.
    package func found(taken: [Int: Set<String>] = [:]) -> [Int: String] {
        var found: [Int: String] = [:]
        var used = taken
        // Those that are certain first, so that no guess takes their rows.
        for isCertain in [true, false] {
            for (index, subject) in subjects.enumerated() {
                if case .reference = subject.mark { if !isCertain { continue } } else if isCertain { continue }
                let ids = (candidates[index] ?? []).subtracting(isCertain ? [] : used[subject.table] ?? [])
                // Rows with one client id are one record's, whichever of them the backend made first.
                guard ids.count == 1, let id = ids.first else { continue }
                found[subject.index] = id
                used[subject.table, default: []].insert(id)
            }
        }
        return found
    }

    /// The ids that may be found by values, by table.
    package var guesses: [Int: Set<String>] {
        var guesses: [Int: Set<String>] = [:]
        for (index, subject) in subjects.enumerated() {
            if case .values = subject.mark { guesses[subject.table, default: []].formUnion(candidates[index] ?? []) }
        }
        return guesses
    }

    private mutating func take(_ line: UnsafeRawBufferPointer) {
        guard let document = try? JSONScanner.document(line, maximumDepth: rules.depthLimit), document.kind == .object,
            let type = document.member(rules.typeField)?.string, let target = targets[type],
            let data = document.member(rules.dataField), let id = Self.id(at: target.ids, in: data)
        else { return }
        for (path, subjects) in references[target.table] ?? [] {
            guard let reference = data.value(at: path)?.idText, let index = subjects[reference] else { continue }
            // Of those that are certain one is enough, always the same.
            candidates[index] = [min(candidates[index]?.first ?? id, id)]
        }
        for (index, subject) in subjects.enumerated() where subject.table == target.table {
            guard case .values = subject.mark else { continue }
            let isEqual = sought[index].allSatisfy {
                ColumnValue(data.value(at: $0.path), $0.spelling).meaning == $0.meaning
            }
            // The last state of a row counts.
            guard isEqual else {
                candidates[index]?.remove(id)
                continue
            }
            if candidates[index]?.count ?? 0 < Self.maximumCandidates { candidates[index, default: []].insert(id) }
        }
    }

    private static func id(at paths: [Path], in data: JSONSlice) -> String? {
        let parts = paths.compactMap { data.value(at: $0)?.idText }
        guard parts.count == paths.count else { return nil }
        let id = parts.count == 1 ? parts[0] : RecordID.joining(parts)
        return RecordID.isSafe(id) ? id : nil
    }
}

extension JSONSlice {
    /// Returns the value at a path; nil if there is none.
    fileprivate func value(at path: Path) -> JSONSlice? {
        var value = self
        for step in path.steps {
            let next =
                switch step {
                case .name(let name): value.kind == .object ? value.member(name) : nil
                case .index(let index): value.kind == .array ? value.element(at: index) : nil
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}

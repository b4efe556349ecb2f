// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The name of a part of a sync's address whose value calls to the backend may use, written `{path.id}` or
/// `{query.farm_id}`.
package struct ScopeName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The part of the address that has the value.
    package enum Source: String, CaseIterable, Sendable {
        /// A named segment of the sync paths.
        case path
        /// A parameter of the query.
        case query
    }

    /// The part of the address that has the value.
    package let source: Source
    /// The name of the segment or the parameter.
    package let name: String

    /// Creates a name.
    package init(_ source: Source, _ name: String) {
        self.source = source
        self.name = name
    }

    /// Reads the name of a placeholder; nil if it is no part of an address, as `id` or `base`.
    package init?(placeholder: String) {
        guard let dot = placeholder.firstIndex(of: "."), let source = Source(rawValue: String(placeholder[..<dot]))
        else { return nil }
        self.init(source, String(placeholder[placeholder.index(after: dot)...]))
        guard !name.isEmpty else { return nil }
    }

    /// The name as a placeholder has it, such as `path.id`.
    package var description: String { "\(source.rawValue).\(name)" }

    /// Compares byte by byte, which does not depend on a language.
    package static func < (a: Self, b: Self) -> Bool {
        a.description.utf8.lexicographicallyPrecedes(b.description.utf8)
    }
}

/// A sync's subject, such as one project: the parts of its address that calls to the backend use.
package struct SyncScope: Hashable, Sendable, CustomStringConvertible {
    /// One part of the address.
    package struct Part: Hashable, Sendable {
        /// The part's name.
        package let name: ScopeName
        /// The part's value, percent-decoded.
        package let value: String
    }

    /// The greatest number of parts.
    package static let maximumParts = 8
    /// The most bytes of a value.
    package static let maximumBytes = 255

    /// The parts in the order of their names.
    package let parts: [Part]

    /// The scope of a sync of whose address no call uses anything.
    package static let none = SyncScope([:])

    /// Creates a scope of these values.
    package init(_ values: [ScopeName: String]) {
        parts = values.map { Part(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
    }

    /// True if no call uses anything of the address.
    package var isEmpty: Bool { parts.isEmpty }

    /// Returns the value of a placeholder; nil if it is no part of the scope.
    package subscript(placeholder placeholder: String) -> String? {
        parts.first { $0.name.description == placeholder }?.value
    }

    /// The names and values in one line of visible ASCII, such as `path.id=7&query.farm_id=a%20b`.
    ///
    /// Different scopes have different texts. Nothing in it needs to be escaped; it may have some kilobytes.
    package var description: String {
        parts.map { "\($0.name)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
    }
}

extension SyncScope {
    /// Returns the reason why a text cannot be the value of a part; nil if it can.
    ///
    /// - Parameters:
    ///   - value: The percent-decoded bytes.
    ///   - isSegment: True if a call has the value in its path, where it must mean the same to every server.
    /// - Returns: The reason, to follow the value's name.
    package static func defect(of value: [UInt8], isSegment: Bool) -> Defect? {
        // Apps that build addresses from variables write these where one has no value.
        if value.isEmpty || ["undefined", "null", "NaN"].contains(where: { value.elementsEqual($0.utf8) }) {
            return .missing
        }
        guard value.count <= maximumBytes else { return .hostile("has more than \(maximumBytes) bytes") }
        guard let text = String(validating: value, as: UTF8.self) else { return .hostile("is no text") }
        guard text != ".", text != ".." else { return .hostile("is no name") }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return .hostile("has control characters")
        }
        guard !isSegment || !PathSegment.isAmbiguousWhenDecodedAgain(PercentCoding.encode(text).utf8) else {
            return .hostile("could be read as another address")
        }
        return nil
    }

    /// The reason why a text is no value.
    package enum Defect: Hashable, Sendable {
        /// There is none.
        case missing
        /// It is refused.
        case hostile(String)
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// The kinds of the members of a body's object, which decide whether the body is a pull or a push.
///
/// Tables may have any name, so the kind of a member depends on its form first and on its name second: a member with
/// `created`, `updated` and `deleted` is a table's set under any name.
struct BodyOutline {
    /// The form in which a push body holds its changes.
    enum Changes {
        /// The changes are a member with a name of their own.
        case envelope(JSONSlice)
        /// The body's own members are the tables, except those that are arguments.
        case bare
        /// The body is the set of one table, which the configuration names.
        case set(JSONSlice)
    }

    /// The arguments beside the changes, in their order.
    private(set) var arguments: [(kind: ArgumentKind, value: JSONSlice)] = []
    private var envelopes: [JSONSlice] = []
    private var tables = 0
    private var lists = 0
    private var emptyObjects = 0
    private var others: [(name: JSONSlice, value: JSONSlice)] = []
    private let object: JSONSlice
    private let dialect: WireDialect

    /// Reads the members of an object once.
    init(_ object: JSONSlice, dialect: WireDialect) {
        self.object = object
        self.dialect = dialect
        object.forEachMember { name, value in
            let isSet = value.isChangeSet
            if isSet { tables += 1 }
            if name.equals(any: dialect.changesNames) {
                envelopes.append(value)
            } else if isSet {
                return
            } else if let kind = ArgumentKind.named(name, in: dialect) {
                arguments.append((kind, value))
            } else if ChangeList.named(name) != nil, value.kind == .array || value.isNull {
                lists += 1
            } else if value.isEmptyObject {
                emptyObjects += 1
            } else {
                others.append((name, value))
            }
        }
    }

    /// True if the body has changes in any form, well-formed or not.
    var hasChanges: Bool { !envelopes.isEmpty || tables > 0 || lists > 0 }

    /// True if the body can be answered as a pull on a path that also takes pushes.
    ///
    /// Besides arguments, only members are allowed that cannot be changes under another name: a 2xx would make the
    /// client believe that they were accepted.
    var isPlainPull: Bool {
        if hasChanges || emptyObjects > 0 { return false }
        if others.isEmpty { return true }
        return !arguments.isEmpty && others.allSatisfy { !Self.couldHoldChanges($0.value) }
    }

    /// Returns the changes of a push, with their form.
    func changes() throws(WireError) -> Changes {
        guard let envelope = envelopes.last else { return try changesWithoutEnvelope() }
        let setsOfOthers = tables - envelopes.count { $0.isChangeSet }
        if envelope.isChangeSet, others.isEmpty, lists == 0 {
            // This table is named like an envelope: in an envelope, its lists would have to be sets.
            if setsOfOthers > 0 || (arguments.isEmpty && dialect.pushTable == nil) { return .bare }
        }
        guard envelopes.count == 1, setsOfOthers == 0, lists == 0 else { throw .changesTwice }
        if envelope.isChangeSet {
            guard dialect.pushTable != nil else { throw .tableUnknown }
            return .set(envelope)
        }
        return .envelope(envelope)
    }

    private func changesWithoutEnvelope() throws(WireError) -> Changes {
        if lists > 0 {
            guard tables == 0 else { throw .changesTwice }
            guard dialect.pushTable != nil else { throw .tableUnknown }
            return .set(object)
        }
        let other = others.first { $0.value.kind == .object || $0.value.kind == .array }
        if tables == 0, other == nil || !arguments.isEmpty { throw .changesMissing }
        if let other = other ?? others.first { throw .setShape(other.name.string ?? "") }
        return .bare
    }

    private static func couldHoldChanges(_ value: JSONSlice) -> Bool {
        switch value.kind {
        case .null, .boolean, .number: return false
        case .string:
            let first = value.text?.trimmingSpaces().first
            return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        case .object: return true
        case .array:
            var holdsContainers = false
            value.forEachElement { if couldHoldChanges($0) || $0.kind == .array { holdsContainers = true } }
            return holdsContainers
        }
    }
}

/// The kinds of a pull's arguments.
enum ArgumentKind {
    case lastPulledAt, schemaVersion, migration

    /// Returns the kind of the argument with this name; nil if it is no argument.
    static func named(_ name: JSONSlice, in dialect: WireDialect) -> ArgumentKind? {
        if name.equals(any: dialect.lastPulledAtNames) { return .lastPulledAt }
        if name.equals(any: dialect.schemaVersionNames) { return .schemaVersion }
        return name.equals(any: dialect.migrationNames) ? .migration : nil
    }
}

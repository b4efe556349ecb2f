// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One table of the client's schema: the wire types that fill it, its columns, and the calls that write it.
///
/// The configured tables are also the whitelist: nothing else goes to a client or to the backend.
package struct Table: Hashable, Sendable {
    /// One request type, in all the versions that clients may need.
    package struct Feed: Hashable, Sendable {
        /// One version of the feed.
        package struct Version: Hashable, Sendable {
            /// The type to request from the stream, such as `AlbumsV2`.
            package var requestType: String
            /// The first schema version that gets it; 0 is from the beginning.
            package var since: Int
            /// Creates a version.
            package init(requestType: String, since: Int = 0) {
                self.requestType = requestType
                self.since = since
            }
        }
        /// The versions in ascending order of `since`; exactly one of them is requested.
        package var versions: [Version]
        /// Creates a feed of these versions.
        package init(versions: [Version]) { self.versions = versions }

        /// Returns the version for a client of this schema version; nil if the feed was added later.
        package func version(at schemaVersion: Int) -> Version? { versions.last { $0.since <= schemaVersion } }
    }

    /// A line type that deletes records.
    package struct DeleteRule: Hashable, Sendable {
        /// Selects the records that a line deletes.
        package enum Target: Hashable, Sendable {
            /// The record whose id has the values at these paths, in the order of the id; with `all` whatever feeds
            /// it came from.
            case by([Path], all: Bool)
            /// Every record whose column has the value at the path.
            case whereColumn(String, equals: Path)
        }
        /// The line type.
        package var type: String
        /// The records that the line deletes.
        package var target: Target
        /// Creates a rule.
        package init(type: String, target: Target) {
            self.type = type
            self.target = target
        }
    }

    /// The path of the id in lines of some types.
    package struct IDRule: Hashable, Sendable {
        /// The paths of the id's parts; several parts are joined with dots.
        package var paths: [Path]
        /// The line types that the rule is for; if empty, all types that no other rule names.
        package var types: [String]
        /// Creates a rule.
        package init(paths: [Path], types: [String] = []) {
            self.paths = paths
            self.types = types
        }
    }

    /// A column that holds the id of another record; this record is deleted with it.
    package struct Parent: Hashable, Sendable {
        /// The column with the parent's id.
        package var column: String
        /// The parent's table.
        package var table: String
        /// Creates a parent.
        package init(column: String, table: String) {
            self.column = column
            self.table = table
        }
    }

    /// The calls of a push by calls; nil for an operation that the configuration has no call for.
    package struct Calls: Hashable, Sendable {
        /// Creates a record.
        package var create: CallRule?
        /// Updates a record.
        package var update: CallRule?
        /// Deletes a record.
        package var remove: CallRule?
        /// Reads a record.
        package var read: CallRule?
        /// Creates a set without calls.
        package init() {}

        /// True if an update carries the version that its client had seen, so that the backend can find conflicts.
        package var sendsVersion: Bool {
            guard case .call(let call) = update else { return false }
            return call.sendsVersion || call.mentions("base")
        }
    }

    /// The type of the backend's ids.
    package enum IDType: String, CaseIterable, Sendable {
        case text, integer
    }

    /// A call, or the explicit statement that there is none.
    package enum CallRule: Hashable, Sendable {
        /// The operation is accepted and nothing is sent.
        case none
        /// The request to send.
        case call(Call)
    }

    /// The client's name for the table.
    package var name: String
    /// The first schema version that has the table; 0 if it was always there.
    package var since = 0
    /// The feeds to request; each one brings records of its own.
    package var feeds: [Feed] = []
    /// The line types that carry whole rows.
    package var upserts: [String] = []
    /// The line types that delete rows.
    package var deletes: [DeleteRule] = []
    /// The rules for finding the id in lines.
    package var ids: [IDRule] = []
    /// The parents whose deletion deletes records of this table too.
    package var parents: [Parent] = []
    /// The columns by which a create with unknown outcome is found.
    package var match: [String] = []
    /// The columns in the order of the configuration, without `id`.
    package var columns: [Column] = []
    /// The calls with which a push by calls writes the table.
    package var calls = Calls()
    /// True if the gateway keeps a ledger of the table for each replica: the records it holds, and a hash of their
    /// contents.
    package var isLedgered = true
    /// The type of the backend's ids: integers are sent to it as numbers.
    package var idType = IDType.text
    /// True if the backend gives new records ids of its own although no call reads them from an answer, as in a stream
    /// push.
    package var isIDFromBackend = false
    /// Names who looks for conflicts before the table's pushed records are applied; ``ConflictRule/stream`` needs the
    /// ledger.
    package var conflicts = ConflictRule.backend
    /// Names who deletes the descendants of a record of the table that a client has deleted.
    package var cascade = CascadeRule.backend

    /// Creates an otherwise empty table of this name.
    package init(name: String) { self.name = name }

    /// Returns the id rule for lines of one type.
    package func idRule(for type: String) -> IDRule? {
        ids.first { $0.types.contains(type) } ?? ids.first { $0.types.isEmpty }
    }

    /// Returns the index in ``feeds`` of the feed that lines of a type belong to.
    ///
    /// It is the feed whose request type has the longest base name in common with the type: `PartnerAssetBackfillV2`
    /// belongs to `PartnerAssetsV2`, `AssetDeleteV1` to `AssetsV2`.
    package func feed(of type: String) -> Int {
        var best = (index: 0, length: -1)
        for (index, feed) in feeds.enumerated() {
            for version in feed.versions {
                let length = zip(type, WireType(version.requestType).baseName).prefix { $0 == $1 }.count
                if length > best.length { best = (index, length) }
            }
        }
        return best.index
    }

    /// Lists the upsert types whose lines a client of this schema version can expect.
    ///
    /// If a feed has several versions, these are the types that carry its version number; if no type does, all of the
    /// feed's types.
    package func upsertTypes(at schemaVersion: Int) -> [String] {
        feeds.enumerated().flatMap { index, feed -> [String] in
            guard let requested = feed.version(at: schemaVersion) else { return [] }
            let types = upserts.filter { self.feed(of: $0) == index }
            guard feed.versions.count > 1 else { return types }
            let number = WireType(requested.requestType).version
            let numbered = types.filter { WireType($0).version == number }
            return numbered.isEmpty ? types : numbered
        }
    }

    /// Lists the namespaces whose checkpoints belong to this table in requests of this schema version.
    package func namespaces(at schemaVersion: Int) -> [String] {
        let asked = feeds.contains { $0.version(at: schemaVersion) != nil }
        return upsertTypes(at: schemaVersion) + (asked ? deletes.map(\.type) : [])
    }

    /// True if a record may have another id at the backend than its client has made for it: either the backend gives
    /// new ids, or ids have several parts.
    package var hasOwnIDs: Bool { makesIDs || ids.contains { $0.paths.count > 1 } }

    /// True if the backend gives new records ids of its own.
    package var makesIDs: Bool {
        if case .call(let call) = calls.create, call.returns != nil { return true }
        return isIDFromBackend
    }

    /// Returns the columns that a client of this schema version has.
    package func columns(at schemaVersion: Int) -> [Column] { columns.filter { $0.since <= schemaVersion } }
}

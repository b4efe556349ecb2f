// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One table of the client's schema: the wire types that fill it, its columns, and the calls that write it.
///
/// The configured tables are also the whitelist: nothing else goes to a client or to the backend.
package struct Table: Hashable, Sendable {
    /// One request type, in all the versions that clients may need.
    package struct Feed: Hashable, Sendable {
        /// One version of it.
        package struct Version: Hashable, Sendable {
            /// What is asked for in the stream request, such as `AlbumsV2`.
            package var requestType: String
            /// The first schema version that gets it; 0 is from the beginning.
            package var since: Int
            /// A version.
            package init(requestType: String, since: Int = 0) {
                self.requestType = requestType
                self.since = since
            }
        }
        /// In rising order of `since`; exactly one is asked for.
        package var versions: [Version]
        /// A feed of these versions.
        package init(versions: [Version]) { self.versions = versions }

        /// The version that a client of this schema version gets; nil where the feed came later.
        package func version(at schemaVersion: Int) -> Version? { versions.last { $0.since <= schemaVersion } }
    }

    /// A line type that takes records away.
    package struct DeleteRule: Hashable, Sendable {
        /// How a line says which records.
        package enum Target: Hashable, Sendable {
            /// By the values at these paths, in the order of the id; with `all` whatever sources the record had.
            case by([Path], all: Bool)
            /// Every record whose column has the value at the path.
            case whereColumn(String, equals: Path)
        }
        /// The line type.
        package var type: String
        /// Which records it means.
        package var target: Target
        /// A rule.
        package init(type: String, target: Target) {
            self.type = type
            self.target = target
        }
    }

    /// Where the id stands in lines of some types.
    package struct IDRule: Hashable, Sendable {
        /// The parts of the id; several are joined with dots.
        package var paths: [Path]
        /// The line types that the rule is for; empty is every type that no other rule names.
        package var types: [String]
        /// A rule.
        package init(paths: [Path], types: [String] = []) {
            self.paths = paths
            self.types = types
        }
    }

    /// A column that holds the id of a record whose deletion takes this one along.
    package struct Parent: Hashable, Sendable {
        /// The column with the parent's id.
        package var column: String
        /// The parent's table.
        package var table: String
        /// A parent.
        package init(column: String, table: String) {
            self.column = column
            self.table = table
        }
    }

    /// The calls of a push by calls; nil where the configuration has none.
    package struct Calls: Hashable, Sendable {
        /// Makes a record.
        package var create: CallRule?
        /// Changes one.
        package var update: CallRule?
        /// Deletes one.
        package var remove: CallRule?
        /// Reads one.
        package var read: CallRule?
        /// No calls.
        package init() {}

        /// Whether an update tells the backend what its client had seen, so that the backend can find conflicts.
        package var tellVersion: Bool {
            guard case .call(let call) = update else { return false }
            return call.sendsVersion || call.mentions("base")
        }
    }

    /// What the backend's ids are.
    package enum IDType: String, CaseIterable, Sendable {
        case text, integer
    }

    /// A call, or the explicit word that there is none.
    package enum CallRule: Hashable, Sendable {
        /// The operation is accepted and nothing is sent.
        case none
        /// This request.
        case call(Call)
    }

    /// The client's name of the table.
    package var name: String
    /// The first schema version that has it; 0 where it was always there.
    package var since = 0
    /// What is asked for; all of them, each a source of its own.
    package var feeds: [Feed] = []
    /// The line types that carry whole rows.
    package var upserts: [String] = []
    /// The line types that take rows away.
    package var deletes: [DeleteRule] = []
    /// Where the id stands.
    package var ids: [IDRule] = []
    /// Whose deletion takes these along.
    package var parents: [Parent] = []
    /// Columns that find a create whose outcome is unknown.
    package var match: [String] = []
    /// The columns in the order of the configuration, without `id`.
    package var columns: [Column] = []
    /// How a push by calls writes it.
    package var calls = Calls()
    /// Whether the gateway keeps a ledger of it for each replica: which records it holds, and with what content.
    package var isLedgered = true
    /// Whether the backend's ids are numbers, so that they go to it as such.
    package var idType = IDType.text
    /// Whether the backend gives new records ids of its own although no call reads them from an answer, as in a stream
    /// push.
    package var isIDFromBackend = false
    /// Who looks for conflicts before its pushed records are applied; ``ConflictRule/stream`` needs the ledger.
    package var conflicts = ConflictRule.backend
    /// Who deletes what hangs on a record of the table that a client has deleted.
    package var cascade = CascadeRule.backend

    /// A table of this name, still without anything.
    package init(name: String) { self.name = name }

    /// The id rule for lines of one type.
    package func idRule(for type: String) -> IDRule? {
        ids.first { $0.types.contains(type) } ?? ids.first { $0.types.isEmpty }
    }

    /// The feed, by its place in ``feeds``, that lines of a type belong to.
    ///
    /// With several feeds the one whose request type has the longest base name in common: `PartnerAssetBackfillV2` goes
    /// with `PartnerAssetsV2`, `AssetDeleteV1` with `AssetsV2`.
    package func source(of type: String) -> Int {
        var best = (index: 0, length: -1)
        for (index, feed) in feeds.enumerated() {
            for version in feed.versions {
                let length = zip(type, WireType(version.requestType).baseName).prefix { $0 == $1 }.count
                if length > best.length { best = (index, length) }
            }
        }
        return best.index
    }

    /// The upsert types whose lines a client of this schema version can expect.
    ///
    /// Where a feed has several versions, the types that carry its number; where none does, all of the feed's.
    package func upsertTypes(at schemaVersion: Int) -> [String] {
        feeds.enumerated().flatMap { index, feed -> [String] in
            guard let requested = feed.version(at: schemaVersion) else { return [] }
            let types = upserts.filter { source(of: $0) == index }
            guard feed.versions.count > 1 else { return types }
            let number = WireType(requested.requestType).version
            let numbered = types.filter { WireType($0).version == number }
            return numbered.isEmpty ? types : numbered
        }
    }

    /// Every namespace whose checkpoint belongs to this table in requests of this schema version.
    package func namespaces(at schemaVersion: Int) -> [String] {
        let asked = feeds.contains { $0.version(at: schemaVersion) != nil }
        return upsertTypes(at: schemaVersion) + (asked ? deletes.map(\.type) : [])
    }

    /// Whether a record may have another id at the backend than its client has made for it: the backend gives new ones,
    /// or ids are put together from parts.
    package var hasOwnIDs: Bool { makesIDs || ids.contains { $0.paths.count > 1 } }

    /// Whether the backend gives new records ids of its own.
    package var makesIDs: Bool {
        if case .call(let call) = calls.create, call.returns != nil { return true }
        return isIDFromBackend
    }

    /// The columns that a client of this schema version has.
    package func columns(at schemaVersion: Int) -> [Column] { columns.filter { $0.since <= schemaVersion } }
}

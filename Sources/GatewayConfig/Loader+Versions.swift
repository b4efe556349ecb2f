// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// The checks of the schema's versions: which clients are served, and what is requested for them.
extension Loader {
    mutating func checkVersions() {
        let schema = configuration.schema
        guard !isBroken("schema", "version") else { return }
        if schema.oldest > schema.version, !isBroken("schema", "oldest") {
            problems.error(
                "oldest \(schema.oldest) is above version \(schema.version)", at: anyPosition("schema", "oldest"),
                hint: "'version' is the newest schema version",
                second: second("schema", "version", text: "the version is here"))
        }
        checkMigrationsEnabledAt()
    }

    /// Checks the version at which migrations begin; 0 is for none.
    private mutating func checkMigrationsEnabledAt() {
        let schema = configuration.schema
        guard let enabled = schema.migrationsEnabledAt, enabled > 0, !isBroken("schema", "migrations_enabled_at") else {
            return
        }
        let span = anyPosition("schema", "migrations_enabled_at")
        if enabled > schema.version {
            problems.error(
                "migrations_enabled_at \(enabled) is above version \(schema.version)", at: span,
                hint: "no client could sync twice; leave it out to begin at the oldest version, or set 0 for none",
                second: second("schema", "version", text: "the version is here"))
            return
        }
        guard !isBroken("schema", "oldest"), schema.oldest <= schema.version else { return }
        let other = second("schema", "oldest", text: "the oldest version is here")
        if enabled < schema.oldest {
            problems.warning(
                "migrations_enabled_at \(enabled) is below oldest \(schema.oldest): a version that is not served",
                at: span,
                hint:
                    "devices whose last version is not known get all tables again; leave it out to begin at the oldest",
                second: other)
        } else if enabled > schema.oldest {
            let last = enabled - 1
            let versions = schema.oldest == last ? "version \(last)" : "versions \(schema.oldest) to \(last)"
            problems.warning(
                "migrations_enabled_at \(enabled) is above oldest \(schema.oldest): clients of \(versions) are refused "
                    + "at their second sync", at: span,
                hint: "lower it to \(schema.oldest), or raise oldest to \(enabled) so that they are told to update",
                second: other)
        }
    }

    /// Refuses a `version_from` field that identifies the caller or describes the connection.
    mutating func checkVersionSource() {
        guard case .header(let name) = configuration.versionFrom, !isBroken("schema", "version_from") else { return }
        let credentials = ["authorization", "cookie"] + configuration.wire.tokenHeader
        guard Self.neverForwarded.contains(name) || credentials.contains(name) else { return }
        problems.error(
            "'\(name)' cannot tell the schema version: it has another meaning",
            at: anyPosition("schema", "version_from"),
            hint: "let the app send a field of its own, such as X-Schema-Version",
            second: configuration.wire.tokenHeader.contains(name)
                ? second("wire", "token_header", text: "it carries the credential here") : nil)
    }

    /// The client versions for which a request type is requested.
    private struct Requested {
        let type: Located<String>
        /// The versions that are served.
        let versions: ClosedRange<Int>
    }

    /// Checks that two versions of one request type are never requested at once: the backend would stream every row
    /// twice, and the later one would win.
    mutating func checkRequestedVersions() {
        guard !isBroken("schema", "version"), !isBroken("schema", "oldest") else { return }
        var baseNames: [Substring: [Requested]] = [:]
        for draft in drafts {
            for requested in requested(of: draft) {
                baseNames[WireType(requested.type.value).baseName, default: []].append(requested)
            }
        }
        for (_, requested) in baseNames.sorted(by: { $0.key < $1.key }) { checkOverlaps(requested) }
    }

    /// Compares each request type with that of another name that is requested up to the highest client version.
    private mutating func checkOverlaps(_ requested: [Requested]) {
        let sorted = requested.enumerated().sorted {
            ($0.element.versions.lowerBound, $0.offset) < ($1.element.versions.lowerBound, $1.offset)
        }.map(\.element)
        // The two with the highest last versions, of different names.
        var longest: [Requested] = []
        for next in sorted {
            if let other = longest.first(where: { $0.type.value != next.type.value }),
                other.versions.upperBound >= next.versions.lowerBound
            {
                problems.error(
                    "'\(next.type.value)' and '\(other.type.value)' are both asked for by clients of schema version "
                        + "\(next.versions.lowerBound)",
                    at: next.type.span, hint: "let all tables change from one to the other at the same version",
                    second: .init("'\(other.type.value)' is asked for here", at: other.type.span))
            }
            longest.append(next)
            longest.sort { $0.versions.upperBound > $1.versions.upperBound }
            var names: Set<String> = []
            longest = longest.filter { names.insert($0.type.value).inserted }.prefix(2).map { $0 }
        }
    }

    /// Warns if `upsert` lists no type of a requested version: its lines would be skipped, and with them the table's
    /// rows.
    ///
    /// The versions are those in the names; a backend may number lines and requests differently, so this is not an
    /// error.
    mutating func checkUpsertVersions() {
        guard !isBroken("schema", "version"), !isBroken("schema", "oldest") else { return }
        for draft in drafts where draft.feeds.contains(where: { $0.versions.count > 1 }) {
            let table = draft.model
            let changing = Set(
                draft.feeds.filter { $0.versions.count > 1 }.flatMap { $0.versions.map(\.type.value) })
            for requested in requested(of: draft) where changing.contains(requested.type.value) {
                guard let number = WireType(requested.type.value).version,
                    let index = table.feeds.firstIndex(where: { feed in
                        feed.versions.contains { $0.requestType == requested.type.value }
                    })
                else { continue }
                let upserts = table.upserts.filter { table.feed(of: $0) == index }
                guard !upserts.isEmpty, !upserts.contains(where: { WireType($0).version == number }) else { continue }
                problems.warning(
                    "'\(requested.type.value)' is asked for, and no type of its version is listed in 'upsert'",
                    at: requested.type.span,
                    hint:
                        "list every type that brings rows of the table, such as \(WireType(upserts[0]).baseName)V\(number); "
                        + "lines of others are skipped")
            }
        }
    }

    private func requested(of draft: TableDraft) -> [Requested] {
        let (oldest, newest) = (configuration.schema.oldest, configuration.schema.version)
        return draft.feeds.flatMap { feed in
            feed.versions.enumerated().compactMap { index, version -> Requested? in
                let next = index + 1 < feed.versions.count ? feed.versions[index + 1].since?.value ?? 0 : nil
                let first = max(oldest, draft.since?.value ?? 0, version.since?.value ?? 0)
                let last = min(newest, next.map { $0 - 1 } ?? newest)
                return first <= last ? Requested(type: version.type, versions: first...last) : nil
            }
        }
    }
}

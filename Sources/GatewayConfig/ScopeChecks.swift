// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// A part of a sync's address that a call uses.
struct ScopeUse {
    var name: ScopeName
    var span: Span
    /// The call's key if it is one of `[backend]`.
    var key: String?
}

/// Checks that each part of an address that a call uses is there in every sync, and that the backend can tell the
/// scopes apart wherever it has to.
struct ScopeChecks {
    let settings: Loader
    let uses: [ScopeUse]

    /// Reports what is wrong.
    func run(_ problems: inout Problems) {
        var checked: Set<ScopeName> = []
        for use in uses where checked.insert(use.name).inserted { checkSource(of: use, &problems) }
        if checked.count > SyncScope.maximumParts, let use = uses.last {
            problems.error(
                "calls use \(checked.count) parts of the address, expected at most \(SyncScope.maximumParts)",
                at: use.span)
        }
        checkStream(&problems)
        checkCheckpointCalls(&problems)
        checkPushCalls(&problems)
        checkUnused(checked, &problems)
    }

    /// The parts that the stream uses.
    private var streamed: Set<ScopeName> { Set(uses.filter { $0.key == "stream" }.map(\.name)) }

    /// Checks that every sync states a part.
    private func checkSource(of use: ScopeUse, _ problems: inout Problems) {
        let name = use.name.name
        switch use.name.source {
        case .query where !settings.configuration.wire.scope.contains(name):
            problems.error(
                "'{\(use.name)}' is no parameter of [wire] scope", at: use.span,
                hint: settings.scopeNames.nearest(to: use.name) ?? "list it there: scope = \(name)")
        case .query: break
        case .path:
            guard settings.syncPaths.contains(where: { $0.path.names.contains(name) }) else {
                return problems.error(
                    "'{\(use.name)}' is no segment of the paths of syncs", at: use.span,
                    hint: settings.scopeNames.nearest(to: use.name)
                        ?? "name it in [gateway] sync_path, such as /v1/{\(name)}/sync")
            }
            for (path, key) in settings.syncPaths where path.names.count(where: { $0 == name }) != 1 {
                let hasNone = !path.names.contains(name)
                problems.error(
                    "'{\(use.name)}' \(hasNone ? "has no value" : "stands twice") in '\(path)'", at: use.span,
                    hint: "every path of syncs must have it once",
                    second: settings.second("gateway", key, text: "the path is here"))
            }
            checkOverlaps(of: use, &problems)
        }
    }

    /// Reports two paths that match the same requests and read another segment as the part.
    private func checkOverlaps(of use: ScopeUse, _ problems: inout Problems) {
        let segment = PathPattern.Segment.any(name: use.name.name)
        for (index, (path, key)) in settings.syncPaths.enumerated() {
            for (other, _) in settings.syncPaths.dropFirst(index + 1) where path.overlaps(other) {
                guard path.segments.firstIndex(of: segment) != other.segments.firstIndex(of: segment),
                    path.names.contains(use.name.name), other.names.contains(use.name.name)
                else { continue }
                problems.error(
                    "'{\(use.name)}' is another segment in '\(path)' than in '\(other)'", at: use.span,
                    hint: "some requests match both", second: settings.second("gateway", key, text: "the path is here"))
            }
        }
    }

    /// Demands that the stream uses what other calls use: else the backend could refuse no scope when it is asked for
    /// records, and would show the same in each.
    private func checkStream(_ problems: inout Problems) {
        guard !settings.isBroken("backend", "stream") else { return }
        for use in uses where !streamed.contains(use.name) {
            problems.error(
                "the stream does not use '{\(use.name)}', so every scope would get the same records", at: use.span,
                hint: "use it in [backend] stream too",
                second: settings.second("backend", "stream", text: "the stream is here"))
        }
    }

    /// Demands that the calls that move checkpoints use what the stream uses: else two scopes would move one position.
    private func checkCheckpointCalls(_ problems: inout Problems) {
        let backend = settings.configuration.backend
        guard backend.checkpoints == .server, !settings.isBroken("backend", "checkpoints") else { return }
        // An unknown part is reported once, where it stands.
        let streamed = streamed.intersection(settings.scopeNames).sorted()
        for (key, call) in [("ack", backend.ack), ("list", backend.list), ("forget", backend.forget)] {
            guard let call, !settings.isBroken("backend", key) else { continue }
            for name in streamed where !call.mentions(name.description) {
                problems.error(
                    "the call '\(key)' does not use '{\(name)}', so all scopes would move one position",
                    at: settings.position("backend", key) ?? settings.anyPosition("backend", "stream"),
                    hint: "use it there too, or set 'checkpoints = request'",
                    second: settings.second("backend", "stream", text: "the stream uses it"))
            }
        }
    }

    /// Warns of calls that make records without saying in which scope.
    ///
    /// Of updates and deletions the id says enough.
    private func checkPushCalls(_ problems: inout Problems) {
        let needed = streamed.intersection(settings.scopeNames).sorted()
        var calls: [(title: String, call: Call, span: Span)] = []
        if let path = settings.configuration.push.path, !settings.isBroken("push", "path") {
            calls.append(("[push] path", path, settings.anyPosition("push", "path")))
        }
        for draft in settings.drafts {
            for named in draft.calls where named.key == "create" {
                guard let call = named.draft.call else { continue }
                calls.append(("the call 'create' of '\(draft.name.value)'", call, named.draft.span))
            }
        }
        for (title, call, span) in calls {
            for name in needed where !call.mentions(name.description) {
                problems.warning(
                    "\(title) does not use '{\(name)}': does the backend know from the record where it belongs?",
                    at: span,
                    hint: "use it there too")
            }
        }
    }

    /// Warns of what apps state in vain, and refuses parameters that mean something else already.
    private func checkUnused(_ used: Set<ScopeName>, _ problems: inout Problems) {
        let wire = settings.configuration.wire
        for name in wire.scope where (wire.lastPulledAt + wire.schemaVersion + wire.migration).contains(name) {
            problems.error(
                "'\(name)' has another meaning in queries already", at: settings.anyPosition("wire", "scope"),
                hint: "it is a name of the cursor, the schema version or the migration")
        }
        for name in settings.scopeNames where !used.contains(name) && !name.name.hasPrefix("_") {
            let key = name.source == .query ? nil : settings.syncPaths.first { $0.path.names.contains(name.name) }?.key
            problems.warning(
                "no call uses {\(name)}: apps get the same records whatever they say there",
                at: key.map { settings.anyPosition("gateway", $0) } ?? settings.anyPosition("wire", "scope"),
                hint: "use it in [backend] stream, and in all calls that need it; if it should mean nothing, name it "
                    + "_\(name.name)")
        }
    }
}

extension [ScopeName] {
    /// Returns the part of an address that a placeholder without its source means; nil if there is none.
    func hint(for name: String) -> String? { first { $0.name == name }.map { "did you mean {\($0)}?" } }

    /// Returns the part that a wrong one probably means; nil if none is near.
    fileprivate func nearest(to wrong: ScopeName) -> String? {
        hint(for: wrong.name)
            ?? NearestName.of(wrong.description, among: map(\.description)).map { "did you mean {\($0)}?" }
    }
}

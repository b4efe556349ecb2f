// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// The placeholders in calls, and the parts of a sync's address among them.
extension Loader {
    /// The parts of an address that calls can use.
    var scopeNames: [ScopeName] {
        let segments = syncPaths.flatMap(\.path.names).map { ScopeName(.path, $0) }
        return Array(Set(segments + configuration.wire.scope.map { ScopeName(.query, $0) })).sorted()
    }

    /// The paths of syncs, each with its key.
    var syncPaths: [(path: PathPattern, key: String)] {
        let gateway = configuration.gateway
        return [gateway.syncPath].compactMap(\.self).map { ($0, "sync_path") }
            + gateway.pullPath.map { ($0, "pull_path") } + gateway.pushPath.map { ($0, "push_path") }
    }

    /// Checks the placeholders of all calls, and what they use of addresses.
    mutating func checkScope() {
        let uses = checkPlaceholders() + tableUses
        dropDefaultPaths(without: Set(uses.map(\.name).filter { $0.source == .path }))
        guard !isBroken("gateway", "sync_path"), !isBroken("gateway", "pull_path"), !isBroken("gateway", "push_path"),
            !isBroken("wire", "scope")
        else { return }
        ScopeChecks(settings: self, uses: uses).run(&problems)
    }

    /// Reports unknown placeholders in the calls of the unnamed sections; returns the parts of an address in them.
    private mutating func checkPlaceholders() -> [ScopeUse] {
        var uses: [ScopeUse] = []
        for (key, text) in writtenCalls where !isBroken(key.section, key.name) {
            guard let draft = try? CallParser.parse(text, allowsOutcomes: false) else { continue }
            let known = (key.placeholders ?? []).sorted()
            for placeholder in draft.placeholders where !known.contains(placeholder.value) {
                if let name = ScopeName(placeholder: placeholder.value) {
                    uses.append(
                        ScopeUse(name: name, span: placeholder.span, key: key.section == "backend" ? key.name : nil))
                    continue
                }
                markBroken(key)
                let all = known.map { "{\($0)}" }.joined(separator: " ")
                problems.error(
                    "unknown placeholder '{\(placeholder.value)}'", at: placeholder.span,
                    hint: scopeNames.hint(for: placeholder.value)
                        ?? NearestName.hint(for: placeholder.value, among: known)
                        ?? (all.isEmpty ? "there are none here" : "known here: \(all)"))
            }
        }
        return uses
    }

    private var tableUses: [ScopeUse] {
        drafts.flatMap(\.calls).flatMap(\.draft.placeholders).compactMap { placeholder in
            ScopeName(placeholder: placeholder.value).map { ScopeUse(name: $0, span: placeholder.span) }
        }
    }

    /// Drops paths that nobody has configured and that lack a part that calls use.
    private mutating func dropDefaultPaths(without names: Set<ScopeName>) {
        let needed = names.map(\.name)
        func serves(_ path: PathPattern) -> Bool { needed.allSatisfy(path.names.contains) }
        if position("gateway", "sync_path") == nil, configuration.gateway.syncPath.map(serves) == false {
            configuration.gateway.syncPath = nil
        }
        if position("gateway", "pull_path") == nil { configuration.gateway.pullPath.removeAll { !serves($0) } }
        if position("gateway", "push_path") == nil { configuration.gateway.pushPath.removeAll { !serves($0) } }
    }
}

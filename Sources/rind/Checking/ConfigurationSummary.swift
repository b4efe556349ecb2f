// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import SyncModel

/// A summary of a configuration, for operators who want to see if it means what they meant.
struct ConfigurationSummary {
    let lines: [String]

    init(_ configuration: Configuration, _ descriptors: Descriptors) {
        let gateway = configuration.gateway
        var lines = [Self.line("listens on", gateway.listen.description)]
        if let admin = configuration.admin.listen {
            lines.append(Self.line("", "\(admin) for probes, metrics and the status page"))
        }
        let paths = ([gateway.syncPath].compactMap { $0 } + gateway.pullPath + gateway.pushPath).map(\.description)
        let sync = paths.isEmpty ? "no path: no client can sync" : paths.joined(separator: ", ")
        lines.append(Self.line("sync at", sync))
        let scope = configuration.scope.keys.sorted()
        if !scope.isEmpty {
            lines.append(
                Self.line("scope", scope.map(\.description).joined(separator: ", ") + ": another replica for each"))
        }
        lines.append(Self.line("caller", Self.caller(configuration.identity.principal)))
        lines += Self.context(configuration).map { Self.line("", $0) }
        let style = configuration.backend.checkpoints
        let keeper = "\(style == .server ? "the backend" : "Rind") (checkpoints = \(style.rawValue))"
        lines.append(Self.line("backend", "\(configuration.backend.url), checkpoints kept by \(keeper)"))
        lines.append(Self.line("state", configuration.stateLocation))
        lines.append(Self.line("descriptors", descriptors.summary))
        if let memory = MemoryNeed.summary(configuration) { lines.append(Self.line("memory", memory)) }
        lines.append(Self.line("pushes", Self.pushes(configuration)))
        lines.append(Self.line("else", Self.passThrough(configuration.backend)))
        lines.append(Self.line("ledger", Self.ledger(configuration.schema)))
        lines.append(Self.line("schema", Self.versions(configuration.schema)))
        for table in configuration.schema.tables { lines.append(Self.line("", Self.table(table))) }
        self.lines = lines
    }

    private static func line(_ name: String, _ value: String) -> String { name.padded(to: 12) + value }

    private static func caller(_ source: PrincipalSource) -> String {
        switch source {
        case .backend(let method, let target, let path): "'\(path)' in the backend's answer to \(method) \(target)"
        case .jwt(let claim): "'\(claim)' in the token, once it is verified"
        case .header(let name): "the field '\(name)' of a trusted proxy"
        case .cookie(let name): "the cookie '\(name)'"
        case .bearer: "the bearer token itself"
        }
    }

    /// Describes how pushes are written, and names the tables that have no way.
    private static func pushes(_ configuration: Configuration) -> String {
        guard configuration.push.path == nil else { return "one stream of operations, in one transaction" }
        let silent = configuration.schema.tables.filter { $0.calls == Table.Calls() }.map(\.name)
        let isAll = silent.count == configuration.schema.tables.count
        guard !isAll else { return "refused: neither '[push] path' nor a table says how to write" }
        return "one call for each record"
            + (silent.isEmpty ? "" : "; refused, for want of calls: \(silent.joined(separator: ", "))")
    }

    private static func passThrough(_ backend: Configuration.Backend) -> String {
        guard backend.passThrough else { return "every other path is answered 404" }
        let denied = backend.deniedPaths.map(\.description).joined(separator: ", ")
        return "every path but those of the configured calls passes through, whoever asks"
            + (denied.isEmpty ? ", its internal ones too ([backend] denied_paths)" : ", but for \(denied)")
    }

    /// Describes the header fields that identify a caller together with the credential.
    private static func context(_ configuration: Configuration) -> [String] {
        let names = configuration.contextHeaders
        guard !names.isEmpty else { return [] }
        let isNamed = if case .backend = configuration.identity.principal { true } else { false }
        let result = isNamed ? "another session" : "another caller"
        return [
            "with another \(names.joined(separator: " or ")) it is \(result)"
                + " ('harmless_headers' if that says nothing of who is calling)"
        ]
    }

    private static func versions(_ schema: Schema) -> String {
        let range = schema.oldest == schema.version ? "\(schema.version)" : "\(schema.oldest) to \(schema.version)"
        let count = schema.tables.count
        return "version \(range), \(count) \(count == 1 ? "table" : "tables")"
    }

    private static func ledger(_ schema: Schema) -> String {
        let (kept, count) = (schema.tables.count { $0.isLedgered }, schema.tables.count)
        return kept == count ? "of every table" : kept == 0 ? "of no table" : "of \(kept) of \(count) tables"
    }

    private static func table(_ table: Table) -> String {
        let types = table.upserts.joined(separator: ", ")
        let count = table.columns.count
        let since = table.since > 0 ? ", since version \(table.since)" : ""
        return "\(table.name): \(count) \(count == 1 ? "column" : "columns") from \(types)\(since)"
    }
}

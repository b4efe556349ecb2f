// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayConfig
import SyncModel

/// The scope that a command calls the backend for.
struct ScopeArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A value for a part of the address that calls use, such as path.team=7; may be repeated.",
            valueName: "name=value"))
    var scope: [String] = []

    func validate() throws { _ = try values }

    private var values: [ScopeName: String] {
        get throws {
            try scope.reduce(into: [:]) { values, text in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2, let name = ScopeName(placeholder: parts[0]) else {
                    throw ValidationError(
                        "'\(text.shown(upTo: 80))' is no part of a scope; write 'path.NAME=value' or 'query.NAME=value'."
                    )
                }
                guard values.updateValue(parts[1], forKey: name) == nil else {
                    throw ValidationError("'\(name)' has two values.")
                }
            }
        }
    }

    /// Returns the scope for the calls of a configuration.
    ///
    /// - Throws: ``CommandFailure`` if a part is missing, is used by no call, or could not come from an app.
    func scope(for configuration: GatewayConfig.Configuration) throws -> SyncScope {
        let (values, needed) = (try values, configuration.scope)
        let missing = needed.keys.filter { values[$0] == nil }.sorted()
        guard missing.isEmpty else {
            let options = missing.map { "--scope \($0)=VALUE" }.joined(separator: " ")
            throw CommandFailure(
                .usage, "The calls use parts of the apps' address that have no value here: add \(options).")
        }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let isSegment = needed[name] else {
                throw CommandFailure(.usage, "No call of the configuration uses {\(name)}.")
            }
            switch SyncScope.defect(of: Array(value.utf8), isSegment: isSegment) {
            case nil: break
            case .missing: throw CommandFailure(.usage, "'--scope \(name)' has no value.")
            case .hostile(let reason): throw CommandFailure(.usage, "The value of '--scope \(name)' \(reason).")
            }
        }
        return SyncScope(values)
    }
}

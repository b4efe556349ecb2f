// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension WireDialect {
    /// The purpose of a path.
    package enum Route: String, CaseIterable, Sendable {
        /// Pulls and pushes, told apart by the request.
        case sync
        /// Pulls only.
        case pull
        /// Pushes only.
        case push

        /// The methods that the route accepts, for the `Allow` field of a 405.
        package var allowedMethods: [String] { self == .push ? ["POST"] : ["GET", "POST"] }
    }

    /// Returns what the gateway itself does on this path; nil if the request passes through to the backend.
    ///
    /// The path is the request target without its query, still percent-encoded.
    package func route(_ path: String) -> Route? {
        if let route = route(of: path) { return route }
        // An app that does not know its project yet sends `/projects//sync`: that is a sync without a scope, and no
        // request for the backend.
        guard scope.keys.contains(where: { $0.source == .path }), path.contains("//") else { return nil }
        return route(of: path.replacing("//", with: "/undefined/"))
    }

    private func route(of path: String) -> Route? {
        if syncPaths.contains(where: { $0.matches(path) }) { return .sync }
        let isPull = pullPaths.contains { $0.matches(path) }
        let isPush = pushPaths.contains { $0.matches(path) }
        return switch (isPull, isPush) {
        case (true, true): .sync
        case (true, false): .pull
        case (false, true): .push
        case (false, false): nil
        }
    }
}

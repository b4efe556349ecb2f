// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import Gateway
import GatewayConfig
import Logging
import PostgresState
import SQLiteState
import StateStore

/// Looks, before a state is made anew, whether the one that was meant lies somewhere else: with a new one every device
/// gets everything anew.
struct NewState {
    /// The path of the file, or the database without secrets.
    let location: String
    /// Files beside it that are states with the same identity key.
    private(set) var siblings: [String] = []

    /// The most files beside it that are looked at.
    private static let maximumFiles = 1_000

    /// Creates the finding; nil if the state is there.
    ///
    /// - Throws: `StateError`, or ``CommandFailure`` if the state is where earlier versions looked for it: there a
    ///   relative path was relative to the working directory.
    init?(_ configuration: Configuration) async throws {
        location = configuration.stateLocation
        guard case .sqlite(let path, let relativePath) = configuration.state.url else {
            guard case .postgres(let url) = configuration.state.url,
                try await PostgresStateStore.inspect(configuration.postgresOptions(url), logger: .silent) == nil
            else { return nil }
            return
        }
        guard try await SQLiteStateStore.inspect(path: path, options: configuration.sqliteOptions) == nil else {
            return nil
        }
        let file = URL(filePath: path).standardizedFileURL
        if let here = relativePath.map({ URL(filePath: $0).standardizedFileURL }), here != file,
            await Self.isOwn(here, configuration, ifUnmarked: true)
        {
            throw CommandFailure(
                .configuration,
                "There is no state at \(Self.path(file)), and there is one at \(Self.path(here)), where earlier versions "
                    + "looked: a relative path is relative to the configuration now. Move the file there, with its -wal "
                    + "if it has one, or write its whole path in [state] url. (state.elsewhere)",
                code: "state.elsewhere")
        }
        let folder = file.deletingLastPathComponent()
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        for other in files.sorted(by: { $0.path < $1.path }).prefix(Self.maximumFiles)
        where Self.isState(Self.path(other)) {
            guard await Self.isOwn(other, configuration, ifUnmarked: false) else { continue }
            siblings.append(Self.path(other))
        }
    }

    /// Logs that the state is made, once it is.
    func log(to logger: Logger) {
        logger.notice("state made anew at \(location)", metadata: ["code": "state.new", "path": "\(location)"])
        guard !siblings.isEmpty else { return }
        logger.warning(
            "another state beside it has the same identity key: is it the one that was meant?",
            metadata: ["code": "state.sibling", "path": "\(siblings.joined(separator: ", "))"])
    }

    private static func path(_ url: URL) -> String { url.path(percentEncoded: false) }

    /// Returns true if a file is a state that was written under the configuration's identity key.
    private static func isOwn(_ file: URL, _ configuration: Configuration, ifUnmarked: Bool) async -> Bool {
        let (path, options) = (path(file), configuration.sqliteOptions)
        guard let version = try? await SQLiteStateStore.inspect(path: path, options: options), version > 0
        else { return false }
        // One of an earlier version cannot be asked for its mark.
        guard let store = try? await SQLiteStateStore.openShared(path: path, for: .reading, options: options),
            let mark = try? await configuration.closing(store, after: { try await $0.keyMark() })
        else { return ifUnmarked }
        return mark == SyncGateway.keyMark(of: configuration)
    }

    /// Returns true if a regular file has Rind's mark in SQLite's head: databases of others are not opened.
    private static func isState(_ path: String) -> Bool {
        guard let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType,
            type == .typeRegular, let file = FileHandle(forReadingAtPath: path)
        else { return false }
        defer { try? file.close() }
        // The application id is at offset 68 (https://www.sqlite.org/fileformat2.html#the_database_header).
        guard let head = try? file.read(upToCount: 72), head.count == 72 else { return false }
        return head.starts(with: Data("SQLite format 3".utf8)) && head[68...] == Data("Rind".utf8)
    }
}

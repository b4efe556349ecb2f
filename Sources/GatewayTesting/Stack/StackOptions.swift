// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
package import DemoBackend
import Foundation
package import Gateway
package import GatewayConfig
package import SQLiteState
import StateStore
package import SyncModel

/// The differences of a stack from the one of the quickstart example.
package struct StackOptions: Sendable {
    /// Keys of the configuration with other values, such as `["pull.unknown_cursor": "refuse"]`.
    package var overrides: [String: String] = [:]
    /// The configuration file's text; nil is that of `examples/quickstart`.
    package var configuration: String?
    /// The backend: two accounts, of which Ada has many sessions.
    package var backend = StackOptions.backendConfiguration
    /// The gateway's time; the backend has its own.
    package var clock: any WallClock = SystemClock()
    /// Verifies tokens, for configurations that want that.
    package var tokens: TokenKeys?
    /// The options for opening the state.
    package var state = SQLiteStateStore.Options()

    /// Creates the quickstart example, with stream pushes, on the system's clock.
    package init(_ overrides: [String: String] = [:]) { self.overrides = overrides }

    /// Creates the quickstart example with a REST call for every pushed record.
    package static func pushingByCalls(_ overrides: [String: String] = [:]) throws -> StackOptions {
        var options = StackOptions(overrides)
        options.configuration = try StackConfiguration.withCalls()
        return options
    }

    /// The backend's usual configuration.
    ///
    /// The recordings' tokens are sessions of Ada's, the ones in a field of their own and as Basic credentials too.
    package static var backendConfiguration: DemoConfiguration {
        var configuration = DemoConfiguration()
        configuration.accounts[0].tokens += ["device-a", "device-b", "token-a", "dXNlcjpzZWNyZXQ="]
        configuration.tokenHeaders = ["x-jwt-token"]
        return configuration
    }
}

/// The configurations that stacks start from.
package enum StackConfiguration {
    private static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    /// Reads `examples/quickstart/rind.ini`: three schema versions, stream pushes.
    package static func quickstart() throws -> String { try example("quickstart") }

    /// Reads an example's configuration.
    package static func example(_ name: String) throws -> String {
        let data = try Data(contentsOf: root.appending(path: "examples/\(name)/rind.ini"))
        return String(decoding: data, as: UTF8.self)
    }

    /// Returns the quickstart's text with checkpoints that travel in the stream request.
    package static func withRequestCheckpoints() throws -> String {
        try quickstart().replacing(
            #"{"types":"{types}"}"#, with: #"{"types":"{types}","checkpoints":"{checkpoints}"}"#
        ).replacing("checkpoints = server", with: "checkpoints = request")
    }

    /// Returns the quickstart's text with a template for each table and operation instead of the stream push.
    package static func withCalls(requestCheckpoints: Bool = false) throws -> String {
        var text = try (requestCheckpoints ? withRequestCheckpoints() : quickstart()).replacing(
            "[push]\npath = POST /sync/push\n", with: "")
        for (table, calls) in calls {
            text = text.replacing("[columns \(table)]", with: calls + "\n[columns \(table)]")
        }
        return text
    }

    private static let calls: KeyValuePairs<String, String> = [
        "projects": """
        create = POST /projects exists 409 body {"id":"{id}","name":"{name}","isArchived":"{is_archived}",
          "color":"{color}"}
        update = PATCH /projects/{id} missing 404
        remove = DELETE /projects/{id} missing 404
        """,
        "tasks": """
        create = POST /tasks exists 409 body {"id":"{id}","name":"{name}","position":"{position}",
          "isDone":"{is_done}","projectId":"{project_id}","note":"{note}","createdAt":"{created_at}",
          "updatedAt":"{updated_at}","dueAt":"{due_at}"}
        update = PATCH /tasks/{id} missing 404
        remove = DELETE /tasks/{id} missing 404
        """,
        "comments": """
        create = POST /comments exists 409 body {"id":"{id}","body":"{body}","taskId":"{task_id}"}
        update = PATCH /comments/{id} missing 404
        remove = DELETE /comments/{id} missing 404
        """,
        "tags": """
        create = POST /tags exists 409 body {"id":"{id}","label":"{label}"}
        update = PATCH /tags/{id} missing 404
        remove = DELETE /tags/{id} missing 404
        """,
        "task_tags": """
        create = PUT /tasks/{task_id}/tags when 0.success true | 0.error duplicate body {"ids":["{tag_id}"]}
        remove = DELETE /tasks/{task_id}/tags when 0.success true | 0.error not_found body {"ids":["{tag_id}"]}
        """,
    ]

    /// Reads a configuration for a backend and a state, with the overrides of the options.
    ///
    /// - Throws: `ConfigurationError` with every mistake in it.
    package static func load(_ options: StackOptions, backendURL: String, state: String) throws -> Configuration {
        var environment = [
            "RIND_BACKEND_URL": backendURL, "RIND_STATE_URL": "sqlite:\(state)", "RIND_GATEWAY_LISTEN": "127.0.0.1:0",
        ]
        for (key, value) in options.overrides {
            environment["RIND_" + key.uppercased().replacing(".", with: "_")] = value
        }
        return try Configuration.load(options.configuration ?? quickstart(), environment: environment)
    }
}

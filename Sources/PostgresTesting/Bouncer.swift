// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A real pgbouncer in transaction mode, before a server.
package struct Bouncer: Sendable {
    /// The port over TCP.
    package let port: Int

    private static let paths = ["/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer", "/usr/bin/pgbouncer"]
    private static var program: String? { paths.first { FileManager.default.isExecutableFile(atPath: $0) } }

    /// True if there is a pgbouncer to run; build machines must have one.
    package static var isInstalled: Bool { program != nil || ProcessInfo.processInfo.environment["CI"] == "true" }

    /// Runs it with so many connections to the server around the body.
    package static func with<R>(
        _ server: PostgresServer, connections: Int, _ body: (Bouncer) async throws -> R
    ) async throws -> R {
        guard let program else { throw Command.Refused(what: "pgbouncer is not installed") }
        let port = try PostgresServer.freePort()
        // The directory of the server is one that its user may write to; pgbouncer refuses to run as root too.
        let script = """
            cat >"$2/bouncer-$4.ini" <<END
            [databases]
            postgres = host=127.0.0.1 port=$3 user=postgres
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = $4
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = $5
            END
            "$1" -q "$2/bouncer-$4.ini" &
            cat >/dev/null
            kill $!
            """
        let child = try Command.spawn(
            PostgresServer.unprivileged
                + [
                    "sh", "-c", script, "bouncer", program, server.directory, "\(server.port)", "\(port)",
                    "\(connections)",
                ])
        // Its end is the end of the shell's input.
        defer { close(child.input) }
        defer { close(child.output) }
        return try await body(Bouncer(port: port))
    }
}

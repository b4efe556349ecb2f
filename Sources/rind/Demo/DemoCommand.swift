// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DemoBackend
import Foundation
import GatewayConfig
import GatewayServer
import Logging
import ServiceLifecycle

/// `rind demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Runs a small backend and the gateway before it, and shows a sync step by step.",
        discussion: """
            EXAMPLES
              rind demo                stays up until Ctrl-C; paste its commands meanwhile
              rind demo --once         ends by itself; status 1 if a step was not right
              rind demo --port 9000    the gateway listens there
              rind demo --backend-only --port 9001
                                       only the backend, before which you put a gateway

            It prints the address of the operator's page and metrics, and what to look at.
            Everything is on 127.0.0.1 and in a temporary directory that is removed at the
            end. The configuration is examples/quickstart/rind.ini. The backend has two
            users, whose tokens are ada-token and bob-token: sign in with the field
            'Authorization: Bearer ada-token'.
            """)

    @Flag(help: "End after the last step.")
    var once = false

    @Flag(help: "Run the backend alone, until Ctrl-C.")
    var backendOnly = false

    @Option(
        help: ArgumentHelp(
            "The gateway's port; by default 8790, or a free one with --once. With --backend-only the backend's, by default 8791.",
            valueName: "n"))
    var port: Int?

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("A port is a number from 0 to 65535.") }
        if once, backendOnly { throw ValidationError("--once ends after the tour, and --backend-only has none.") }
    }

    func run() async throws {
        try await reportingFailures {
            Console.ignoreBrokenPipes()
            if backendOnly { return try await DemoStage.runBackend(port: port ?? 8_791) }
            let stage = try DemoStage(port: port ?? (once ? 0 : 8_790), endsAfterTour: once)
            do {
                try await stage.run()
            } catch let error as ServerError {
                stage.removeFiles()
                let failure = CommandFailure(error)
                throw CommandFailure(failure.status, failure.message + " 'rind demo --port 0' takes a free port.")
            } catch {
                stage.removeFiles()
                throw error
            }
            stage.removeFiles()
        }
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DemoBackend

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The backend of a measurement that writes: the demo backend on a file, in a process of its own.
struct ServeDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve-demo", abstract: "Serves the backend that is pushed to.", shouldDisplay: false)

    /// A token of the first account's, for the client that checks which records the account has.
    static let observer = "ada-observer"

    @Option(help: "The port on 127.0.0.1.")
    var port: Int

    @Option(help: "The database.")
    var file: String

    @Option(help: "How many milliseconds it waits before it carries a request out.")
    var latency = 0

    func run() async throws {
        // The measuring process ignores these signals, and children inherit that.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        var configuration = DemoConfiguration()
        configuration.port = port
        configuration.file = file
        // A session without checkpoints, which receives everything.
        configuration.accounts[0].tokens.append(Self.observer)
        let backend = try DemoBackend(configuration: configuration)
        if latency > 0 { backend.inject(DemoFault(times: .max, action: .delay(latency))) }
        try await backend.run()
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfig
import GatewayServer

/// The demo's files while it runs: a configuration, which other commands can use, and the state.
struct DemoFiles {
    let directory: URL

    /// The path of the configuration.
    var configurationPath: String { directory.appending(path: "rind.ini").path(percentEncoded: false) }

    /// Writes the quickstart's configuration with this run's addresses and files.
    func write(gatewayPort: Int, backendURL: String) throws -> Configuration {
        let state = directory.appending(path: "rind-state.db").path(percentEncoded: false)
        var text = QuickstartConfiguration.text
        for (line, ours) in [
            ("listen = 127.0.0.1:8790", "listen = 127.0.0.1:\(gatewayPort)"),
            ("url = sqlite:rind-state.db", "url = sqlite:\(state)"),
            ("url = http://127.0.0.1:8791", "url = \(backendURL)"),
        ] {
            text = text.replacing("\n\(line)\n", with: "\n\(ours)\n")
        }
        text += "\n[admin]\nlisten = 127.0.0.1:0\n"
        try text.write(toFile: configurationPath, atomically: true, encoding: .utf8)
        return try Configuration.load(text, file: configurationPath)
    }

    /// The origin of the configuration, for the operator's page.
    var origin: ConfigurationOrigin? {
        (try? Data(contentsOf: URL(filePath: configurationPath))).map { .file(configurationPath, Array($0)) }
    }

    /// Reads the configuration as another command does.
    func configuration() throws -> Configuration {
        try Configuration.load(try String(contentsOfFile: configurationPath, encoding: .utf8), file: configurationPath)
    }
}

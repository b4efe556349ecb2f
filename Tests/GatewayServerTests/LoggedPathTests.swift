// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import GatewayServer
import Logging
import Testing

@Suite struct LoggedPathTests {
    @Test(arguments: [
        ("/share/S3cretLink99/photo", "/share/…"), ("/S3cretLink99", "/…"),
        ("/reset-password/secretlink", "/reset-password/…"),
        ("/assets", "/assets"), ("/", "/"),
    ])
    func `a path that passes through stands at info with its first word`(path: String, shown: String) async throws {
        let log = LogLines()
        try await Support.withServer(log: log) { port in
            _ = try await RawClient.exchange(
                port, "GET \(path)?x=S3cret HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        }
        let line = try #require(log.lines.first { $0.message == "request" })
        #expect(line.metadata["path"] == shown)
        let told = log.lines.filter { $0.level >= .info }.map { "\($0.message) \($0.metadata)" }.joined()
        #expect(!told.lowercased().contains("secret"))
        let whole = log.lines.filter { $0.level == .debug && $0.message == "path" }
        #expect(whole.map { $0.metadata["path"] } == [path])
    }
}

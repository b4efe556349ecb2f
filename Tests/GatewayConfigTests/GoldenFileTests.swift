// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfig
import INI
import Testing

/// `Fixtures/NAME.ini` and what is said about it in `Fixtures/NAME.expected`; adding a case is adding two files.
///
/// `RIND_REGENERATE=1 swift test --filter GoldenFileTests` writes the expected files anew: read the difference.
@Suite struct GoldenFileTests {
    private static let names =
        (try? FileManager.default.contentsOfDirectory(atPath: Support.fixtures.path()))?
        .filter { $0.hasSuffix(".ini") }.sorted() ?? []

    @Test(arguments: names)
    func `a file gets exactly these diagnostics`(name: String) throws {
        let text = try [UInt8](Data(contentsOf: Support.fixtures.appending(path: name)))
        let environment = ["HOME_URL": "http://backend.test", "WRONG": "a, b", "CREDENTIALS": "/run/credentials"]
        let (configuration, diagnostics) = Configuration.load(text: text, file: name, environment: environment) {
            path throws(Substitution.FileError) in
            guard path == "/etc/rind/identity.key" else { throw Substitution.FileError("no such file") }
            return Array((Support.key + "\n").utf8)
        }
        #expect((configuration == nil) == diagnostics.contains { $0.severity == .error })
        let rendered = Support.rendered(diagnostics)
        let expected = Support.fixtures.appending(path: name.replacing(".ini", with: ".expected"))
        if Support.isRegenerating { try Data(rendered.utf8).write(to: expected) }
        #expect(try rendered == String(contentsOf: expected, encoding: .utf8))
    }

    @Test func `there are cases`() { #expect(Self.names.count >= 8) }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfig
import Testing

/// The committed files are what the key table makes of them.
///
/// `RIND_REGENERATE=1 swift test --filter GeneratedFilesTests` writes them anew.
@Suite struct GeneratedFilesTests {
    private static let files: [(path: String, text: String)] = [
        ("config/rind.ini", KeyTable.sample()),
        ("config/rind-minimal.ini", KeyTable.minimalSample()),
        ("docs/CONFIGURATION.md", KeyTable.page()),
    ]

    @Test(arguments: files.map(\.path))
    func `a committed file is what the key table generates`(path: String) throws {
        let text = try #require(Self.files.first { $0.path == path }?.text)
        let url = Support.root.appending(path: path)
        if Support.isRegenerating { try Data(text.utf8).write(to: url) }
        let committed = try String(contentsOf: url, encoding: .utf8)
        #expect(committed == text, "run: RIND_REGENERATE=1 swift test --filter GeneratedFilesTests")
        #expect(!text.contains("\t") && !text.split(separator: "\n").contains { $0.hasSuffix(" ") })
    }

    @Test(arguments: ["config/rind.ini", "config/rind-minimal.ini"])
    func `a sample loads without errors or warnings`(path: String) throws {
        let text = try #require(Self.files.first { $0.path == path }?.text)
        let (configuration, diagnostics) = Support.load(
            text, file: path, files: ["/etc/rind/identity.key": Support.key + "\n"])
        #expect(Support.rendered(diagnostics) == "")
        #expect(configuration != nil)
    }

    @Test func `the annotated sample loads with every commented key switched on`() throws {
        let text = KeyTable.sample().split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("#") && line.contains(" =") && !line.hasPrefix("# ")
                ? String(line.dropFirst()) : String(line)
        }
        let files = ["/etc/rind/identity.key": Support.key]
        let (configuration, diagnostics) = Support.load(text.joined(separator: "\n"), files: files)
        #expect(Support.rendered(diagnostics) == "")
        let plain = Support.load(KeyTable.sample(), files: files).configuration
        #expect(configuration?.backend == plain?.backend)
        #expect(configuration?.gateway == plain?.gateway)
        #expect(configuration?.wire == plain?.wire)
        #expect(configuration?.limits == plain?.limits)
        #expect(configuration?.pull == plain?.pull)
    }

    @Test func `the listing and the page name every key with its default`() {
        let (listing, page) = (KeyTable.listing(), KeyTable.page())
        for key in KeyTable.keys {
            #expect(listing.contains("\n  \(key.name) = "), "\(key.name)")
            #expect(page.contains("\n#### \(key.name)\n"), "\(key.name)")
            guard let text = key.defaultText, !text.isEmpty else { continue }
            #expect(page.contains("default: `\(text)`"), "\(key.name)")
        }
    }

    @Test func `every key has one line of summary that ends a sentence`() {
        for key in KeyTable.keys {
            #expect(key.summary.hasSuffix(".") && !key.summary.contains("\n"), "\(key.section).\(key.name)")
            #expect(!key.about.contains("\n") && (key.about.isEmpty || key.about.hasSuffix(".")), "\(key.name)")
        }
    }
}

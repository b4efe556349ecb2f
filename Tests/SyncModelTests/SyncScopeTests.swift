// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@Suite struct SyncScopeTests {
    @Test(
        arguments: [
            ("path.id", ScopeName(.path, "id")), ("query.farm_id", ScopeName(.query, "farm_id")),
            ("path.a.b", ScopeName(.path, "a.b")), ("id", nil), ("id.1", nil), ("base", nil), ("*", nil), ("path", nil),
            ("path.", nil), ("Path.id", nil), ("", nil), (".", nil),
        ] as [(String, ScopeName?)])
    func `a placeholder names a part of an address, or something else`(text: String, name: ScopeName?) {
        #expect(ScopeName(placeholder: text) == name)
        if let name { #expect(name.description == text) }
    }

    private static let hostile: [(String, Bool)] = [
        (".", false), ("..", false), ("a\u{0}b", false), ("a\nb", false), ("\u{7F}", false), ("\u{85}", false),
        (String(repeating: "x", count: 256), false), (String(repeating: "ö", count: 128), false),
        // Only in a path: there a server on the way could read another address.
        ("a/b", true), ("a%2Fb", true), ("a%252Fb", true), ("..%2F", true), (" ..", true), ("..;x", true),
        ("a\\b", true),
        ("%2e%2e", true),
    ]

    @Test(arguments: hostile)
    func `a hostile value is refused, in a path if it could be read as another one`(value: String, inPaths: Bool) {
        for isSegment in inPaths ? [true] : [true, false] {
            guard case .hostile = SyncScope.defect(of: Array(value.utf8), isSegment: isSegment) else {
                Issue.record("\(value) is taken")
                continue
            }
        }
        if inPaths { #expect(SyncScope.defect(of: Array(value.utf8), isSegment: false) == nil) }
    }

    @Test func `bytes that are no text are refused`() {
        #expect(SyncScope.defect(of: [0xC3, 0x28], isSegment: false) == .hostile("is no text"))
    }

    @Test(arguments: ["", "undefined", "null", "NaN"])
    func `what apps write for a missing value is none`(value: String) {
        #expect(SyncScope.defect(of: Array(value.utf8), isSegment: true) == .missing)
    }

    @Test(arguments: [
        "7", "...", "a b&c=d", "höfe", "0198c9c0-7000-7000-8000-000000000000", "a+b", "'", "\u{202E}x", "a:b",
    ])
    func `a genuine value is taken`(value: String) {
        #expect(SyncScope.defect(of: Array(value.utf8), isSegment: true) == nil)
        #expect(SyncScope.defect(of: Array(String(repeating: "x", count: 255).utf8), isSegment: true) == nil)
    }

    @Test func `different scopes have different texts, and a text needs no escapes`() {
        let (id, farm) = (ScopeName(.path, "id"), ScopeName(.query, "farm_id"))
        let scopes = [
            SyncScope([id: "7"]), SyncScope([farm: "7"]), SyncScope([id: "7", farm: "8"]),
            SyncScope([id: "8", farm: "7"]),
            SyncScope([id: "7&query.farm_id=8"]), SyncScope([id: "7%26"]), SyncScope([id: "\u{202E}\n"]),
        ]
        let texts = scopes.map(\.description)
        #expect(Set(texts).count == scopes.count)
        #expect(texts.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
        #expect(texts[2] == "path.id=7&query.farm_id=8" && SyncScope.none.description.isEmpty)
        #expect(scopes[2][placeholder: "query.farm_id"] == "8" && scopes[2][placeholder: "farm_id"] == nil)
    }

    @Test func `a pattern has the decoded segments that it names`() throws {
        let pattern = try #require(PathPattern("/v1/{team}/sync/{b}"))
        #expect(pattern.values(in: "/v1/a%20%2Fb/sync/x/") == ["team": Array("a /b".utf8), "b": [0x78]])
        for other in ["/v1/a/sync", "/v1/a/sync/x/y", "/v1//sync/x", "/v2/a/sync/x", "/v1/%2e%2e/sync/x"] {
            #expect(pattern.values(in: other) == nil)
        }
    }

    @Test func `a user's principals in two scopes are two, and both belong to the user`() {
        let user = Principal(rawValue: "aa")
        let one = Principal(rawValue: "bb", origin: .init(user: "aa", scope: "path.id=7"))
        #expect(one.user == user && user.user == user && one != user && one.belongs(to: user) && one.belongs(to: one))
        #expect(!user.belongs(to: one) && user.scope == nil && one.scope == "path.id=7")
    }
}

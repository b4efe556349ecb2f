// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing
import WatermelonWire

@Suite struct ScopeTests {
    private static let (id, farm) = (ScopeName(.path, "id"), ScopeName(.query, "farm_id"))

    private let dialect: WireDialect = {
        var dialect = WireDialect()
        dialect.syncPaths = ["/projects/{id}/sync"].compactMap { PathPattern($0) }
        dialect.pullPaths = ["/{id}/pull"].compactMap { PathPattern($0) }
        dialect.pushPaths = ["/{id}/push"].compactMap { PathPattern($0) }
        dialect.scope = [id: true, farm: false]
        return dialect
    }()

    @Test(arguments: [
        ("/projects/7/sync", "farm_id=8", "7", "8"), ("/projects/7/sync/", "x=1&farm_id=8&last_pulled_at=3", "7", "8"),
        ("/a%20b%26/pull", "farm_id=a+b%26c%3D", "a b&", "a b&c="),
        ("/%C3%B6/push", "farm%5Fid=%2e%2e%2fx", "ö", "../x"),
        ("/7/pull", "farm_id=8&farm_id=8&farm_id=", "7", "8"), ("/a%2525/pull", "farm_id=%2525", "a%25", "%25"),
    ])
    func `a scope is read from the address`(path: String, query: String, id: String, farm: String) throws {
        #expect(try dialect.scope(path: path, query: query) == SyncScope([Self.id: id, Self.farm: farm]))
    }

    @Test(
        arguments: [
            ("/7/pull", "", .scopeMissing), ("/7/pull", "farm_id=", .scopeMissing),
            ("/7/pull", "farm_id", .scopeMissing),
            ("/7/pull", "farm_id=undefined", .scopeMissing), ("/undefined/pull", "farm_id=1", .scopeMissing),
            ("/7/pull", "Farm_id=1", .scopeMissing), ("/7/pull", "farm_id=1&farm_id=2", .scopeValue),
            ("/7/pull", "farm_id=..", .scopeValue), ("/7/pull", "farm_id=%00", .scopeValue),
            ("/7/pull", "farm_id=%FF", .scopeValue), ("/a%2Fb/pull", "farm_id=1", .scopeValue),
            ("/a%252Fb/pull", "farm_id=1", .scopeValue), ("/a%0Ab/pull", "farm_id=1", .scopeValue),
            ("/7/pull", "farm_id=" + String(repeating: "x", count: 256), .scopeValue),
        ] as [(String, String, WireError.Code)])
    func `a scope that is missing, hostile or stated twice is refused`(
        path: String, query: String, code: WireError.Code
    ) throws {
        let error = #expect(throws: WireError.self) { try dialect.scope(path: path, query: query) }
        #expect(error?.code == code && error?.status == 400)
        #expect(error?.message.contains("'") == true, "it names the part")
    }

    @Test func `a dialect that uses nothing of the address reads nothing of it`() throws {
        var dialect = dialect
        dialect.scope = [:]
        #expect(try dialect.scope(path: "/..%2F/pull", query: "farm_id=%00&farm_id=1") == .none)
    }
}

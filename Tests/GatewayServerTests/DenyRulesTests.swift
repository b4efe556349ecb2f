// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import GatewayServer
import SyncModel
import Testing

@Suite struct DenyRulesTests {
    private let rules: DenyRules

    init() {
        rules = DenyRules(
            backend: Support.configuration(denied: ["/admin", "/users/{id}/keys"]).backend,
            streamPush: Call(method: "POST", target: [.text("/v1/push?atomic="), .placeholder("id")]))
    }

    @Test(arguments: [
        "/sync/stream", "/sync/stream/", "/sync/stream/x", "/sync/ack", "/sync/ack/x", "/%73ync/stream",
        "/sync/%73tream", "/sync/s%74rea%6D", "/sync/s%74rea%6d", "/SYNC/Stream", "/sync//stream", "//sync/stream",
        "/x/../sync/stream", "/x/%2e%2e/sync/stream", "/x/..%2fsync/stream", "/./sync/./stream", "/sync/stream;a=b",
        "/sync;a/stream", "/sync%3Ba/stream", "/sync%2Fstream", "/sync%2fack", "/sync\\stream", "/sync%5Cstream",
        "/sync/stream%00", "/sync/stream%00.png", "/sync/%2573tream", "/sync%252Fstream", "/%2573ync/%252e/stream",
        "/../sync/stream", "/a/b/../../sync/ack", "/..;/sync/stream", "/v1/push", "/v1/push/x", "/admin", "/admin/x",
        "/Admin/", "/admin.json", "/admin.json/", "/admin.tar.gz", "/ADMIN.HTML", "/admin%2Ejson",
        "/admin%20", "/x/..%20/admin", "/x/%20../admin", "/x/.%2e%20/admin", "/admin%20.json", "/%20admin",
        "/admin%20/x", "/admin.", "/admin..", "/admin./x", "/admin%2e%20.", "/admin%09", "/admin;v=1.json",
        "/sync/ack.",
        "/sync/ack.json", "/sync%20/ack", "/%c1%a1dmin", "/%C1%A1dmin/x", "/x%c0%af..%c0%afadmin",
        "/x/%c0%ae%c0%ae/admin", "/%e0%81%a1dmin", "/%f0%80%81%a1dmin", "/%25c1%25a1dmin", "/users/7/keys.json",
        "/users/7/keys", "/users/7/keys/1", "/users/%37/%6beys",
    ])
    func `the backend's own paths are denied however they are written`(path: String) {
        #expect(rules.denies(path))
    }

    @Test(arguments: [
        "/", "/sync", "/sync/", "/sync/streams", "/sync/acks", "/synchronise/stream", "/api/sync/stream", "/stream",
        "/v1/pushes", "/v1", "/users/7", "/users/keys", "/users/7/8/keys", "/administrator", "/a%2Fsync", "/sync/strea",
        "/auth/login", "/assets/1/thumbnail", "/administrator.json", "/x.admin", "/admin-x.json", "/.admin",
        "/%c3%a1dmin",
        "/assets/1.jpg", "/users/7.json", "/sync.json", "/a/..%c3%a4",
    ])
    func `other paths are not`(path: String) {
        #expect(!rules.denies(path))
    }

    @Test func `a call to the backend's root denies nothing else`() throws {
        var backend = Support.configuration().backend
        backend.stream = Call(method: "POST", target: [.text("/")])
        let rules = DenyRules(backend: backend, streamPush: nil)
        #expect(!rules.denies("/login") && rules.denies("/sync/ack"))
    }

    @Test func `a placeholder in a call's path stands for any segment`() throws {
        var backend = Support.configuration().backend
        backend.stream = Call(method: "POST", target: [.text("/t/"), .placeholder("base"), .text("/stream")])
        let rules = DenyRules(backend: backend, streamPush: nil)
        #expect(rules.denies("/t/1/stream") && rules.denies("/t/x/stream/y") && !rules.denies("/t/1/other"))
    }
}

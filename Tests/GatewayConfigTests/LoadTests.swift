// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfig
import INI
import SyncModel
import Testing

@Suite struct LoadTests {
    @Test func `what is not set has its documented default`() throws {
        let c = try #require(Support.load(Support.minimal()).configuration)
        #expect(c.gateway.listen == ListenAddress(host: "127.0.0.1", port: 8790))
        #expect(c.gateway.syncPath?.description == "/sync")
        #expect(c.gateway.pullPath.map(\.description) == ["/sync/pull"] && c.gateway.corsOrigins.isEmpty)
        #expect(c.gateway.pushPath.map(\.description) == ["/sync/push"])
        #expect(c.gateway.shutdownGrace == .seconds(30))
        #expect(c.wire.lastPulledAt == ["last_pulled_at", "lastPulledAt"])
        #expect(c.wire.schemaVersion == ["schema_version", "schemaVersion", "schemaversion"])
        #expect(c.wire.migration == ["migration", "_migration"] && c.wire.changes == ["changes"])
        #expect(c.wire.bodyPath.isEmpty && c.wire.wrap.isEmpty && c.wire.tokenHeader.isEmpty && c.wire.pushTable == nil)
        #expect(c.wire.timestamp == "timestamp")
        #expect(
            c.state.url == .sqlite(path: "config/rind-state.db", relativePath: "rind-state.db"),
            "a path is relative to the file")
        #expect(c.identity.authTTL == .seconds(60))
        #expect(c.backend.checkpoints == .server && c.backend.ackTypes == ["SyncAckV1"] && c.backend.ackBatch == 1000)
        #expect(c.backend.completeType == "SyncCompleteV1" && c.backend.resetType == "SyncResetV1")
        #expect(c.backend.forwardHeaders == ["accept-language", "user-agent", "x-request-id"])
        #expect(c.backend.harmlessHeaders == [])
        #expect(c.backend.idleTimeout == .seconds(60) && c.backend.resumeAttempts == 3)
        #expect(c.backend.resumeBackoff == .milliseconds(200) && c.backend.passThrough && c.backend.caFile == nil)
        #expect(c.schema.version == 1 && c.schema.oldest == 1 && c.schema.migrationsEnabledAt == nil)
        #expect(c.pull.firstByteAfter == .seconds(10) && c.pull.keepAliveEvery == .seconds(5))
        #expect(c.pull.repeatWindow == .seconds(600) && c.pull.unknownCursor == .adopt && c.pull.maxLine == 8 << 20)
        #expect(c.pull.maxRows == 0 && c.pull.quarantineKeep == .cut)
        #expect(c.push.path == nil && c.push.receiptWindow == .seconds(120))
        #expect(c.ledger.mode == .full && c.ledger.resweepEvery == .seconds(604_800) && c.ledger.resweepParallel == 2)
        #expect(c.ledger.resweepRows == 1_000_000 && c.ledger.rewind == .seconds(604_800) && c.ledger.maxSweep == 20)
        #expect(c.ledger.maxOffline == .seconds(31_536_000))
        #expect(c.spool.dir == nil && c.spool.memory == 8 << 20 && c.spool.max == 4 << 30)
        #expect(c.spool.memoryTotal == 512 << 20 && c.spool.diskTotal == 16 << 30)
        #expect(c.limits.body == 32 << 20 && c.limits.jsonDepth == 64 && c.limits.queue == 8)
        #expect(c.limits.queueWait == .seconds(30) && c.log.level == .info && c.log.format == .text)
        #expect(c.admin.listen == nil)
    }

    @Test func `the design's sample loads exactly as it is written`() throws {
        let text = try String(contentsOf: Support.fixtures.appending(path: "design-sample.ini"), encoding: .utf8)
        let (configuration, diagnostics) = Support.load(text, files: ["/etc/rind/identity.key": Support.key + "\n"])
        // It shows migrations that begin later than the oldest version, and a creation whose id is lost with its
        // answer: both are allowed but suspicious.
        #expect(
            diagnostics.map { "\($0.severity) \($0.position.line) \($0.message)" } == [
                "warning 25 migrations_enabled_at 3 is above oldest 2: clients of version 2 are refused at their second sync",
                "warning 32 a creation whose answer is lost may happen twice: only the backend knows its id",
            ])
        let c = try #require(configuration)
        #expect(c.identity.key.bytes == Array(Support.key.utf8))
        #expect(c.identity.principal == .backend(method: "GET", target: "/users/me", path: Path(name: "id")))
        #expect(c.backend.url.description == "http://127.0.0.1:2283/api")
        let body = JSONTemplate.object([.init(name: "types", value: .value("namespaces"))])
        #expect(c.backend.forget?.body == body)
        #expect((c.schema.version, c.schema.oldest, c.schema.migrationsEnabledAt) == (12, 2, 3))
        #expect(c.schema.tables.map(\.name) == ["albums", "album_assets", "assets"])
        #expect(c.schema.requestTypes(at: 8) == ["AlbumsV1", "AssetsV1", "PartnerAssetsV1"])
        #expect(c.schema.requestTypes(at: 12) == ["AlbumsV2", "AlbumToAssetsV1", "AssetsV2", "PartnerAssetsV2"])
    }

    @Test func `the design's tables mean what the design says`() throws {
        let text = try String(contentsOf: Support.fixtures.appending(path: "design-sample.ini"), encoding: .utf8)
        let c = try #require(Support.load(text, files: ["/etc/rind/identity.key": Support.key]).configuration)
        let albums = try #require(c.schema.table(named: "albums"))
        #expect(albums.deletes == [.init(type: "AlbumDeleteV1", target: .by([Path(name: "albumId")], all: false))])
        let order = try #require(albums.columns.first { $0.name == "order" })
        #expect(order.isOptional && order.oneOf == .init(allowed: ["asc", "desc"], fallback: "asc"))
        #expect(order.sources == [.path(Path(name: "order"), types: [])])
        let created = try #require(albums.columns.first { $0.name == "created_at" })
        #expect(created.type == .timestamp && created.isReadonly && created.outgoingPath == nil)
        var create = Call(method: "POST", target: [.text("/albums")])
        create.returns = Path(name: "id")
        #expect(albums.calls.create == .call(create))
        var remove = Call(method: "DELETE", target: [.text("/albums/"), .placeholder("id")])
        remove.statuses = [400: .missing, 404: .missing]
        #expect(albums.calls.remove == .call(remove))

        let links = try #require(c.schema.table(named: "album_assets"))
        #expect(links.since == 9 && links.ids == [.init(paths: [Path(name: "albumId"), Path(name: "assetId")])])
        #expect(links.parents == [.init(column: "album_id", table: "albums")])
        var put = Call(method: "PUT", target: [.text("/albums/"), .placeholder("album_id"), .text("/assets")])
        put.when = [
            .init(path: Path([.index(0), .name("success")]), value: .boolean(true)),
            .init(path: Path([.index(0), .name("error")]), value: .string("duplicate")),
        ]
        put.body = .object([.init(name: "ids", value: .array([.value("asset_id")]))])
        #expect(links.calls.create == .call(put))

        let assets = try #require(c.schema.table(named: "assets"))
        #expect(assets.feeds.count == 2 && assets.feeds[1].versions.map(\.since) == [0, 12])
        #expect(assets.deletes.first?.target == .by([Path(name: "assetId")], all: true))
        let duration = try #require(assets.columns.last)
        #expect(duration.since == 12 && duration.isOptional)
        #expect(
            duration.sources == [
                .path(Path(name: "duration"), types: ["AssetV2", "PartnerAssetV2", "PartnerAssetBackfillV2"])
            ])
    }

    @Test func `ten mistakes are ten diagnostics with line, column, caret and hint`() throws {
        let text = try String(contentsOf: Support.fixtures.appending(path: "ten-mistakes.ini"), encoding: .utf8)
        let (configuration, diagnostics) = Support.load(text)
        #expect(configuration == nil)
        #expect(diagnostics.map(\.position.line) == [3, 5, 6, 9, 10, 13, 15, 17, 19, 20])
        #expect(diagnostics.map(\.position.column) == [10, 13, 7, 1, 22, 1, 33, 24, 8, 31])
        for diagnostic in diagnostics {
            #expect(diagnostic.hint != nil && diagnostic.rendered.contains("^"), "\(diagnostic.rendered)")
        }
    }

    @Test func `a text without files loads or throws everything that is wrong`() throws {
        #expect(try Configuration.load(Support.minimal()).backend.url.host == "backend.test")
        #expect {
            try Configuration.load("[log]\nlevl = x\n")
        } throws: { error in
            "\(error)".contains("did you mean 'level'?") && "\(error)".contains("missing key 'url' in [backend]")
        }
    }

    @Test func `an empty file names what is missing`() {
        let messages = Support.load("").diagnostics.map(\.message)
        #expect(
            messages == [
                "missing key 'principal' in [identity]", "missing key 'key' in [identity]",
                "missing key 'url' in [backend]",
            ])
    }

    @Test func `files beside the configuration are found from its directory`() throws {
        let text = Support.minimal("ca_file = tls/ca.pem", identity: "principal = bearer\nkey = @file:keys/id")
        let (configuration, _) = Support.load(
            text, file: "/etc/rind/rind.ini", files: ["/etc/rind/keys/id": Support.key])
        #expect(configuration?.backend.caFile == "/etc/rind/tls/ca.pem")
    }

    @Test func `what passes through cannot have all connections to the backend`() {
        let text = Support.minimal().replacing(
            "[backend]", with: "[backend]\nmax_connections = 8\npass_through_connections = 8")
        #expect(
            Support.messages(text) == [
                "1:1 there is no [table NAME], so clients get nothing",
                "6:1 what passes through may take all connections to the backend, and syncs would have none",
            ])
        let right = Support.messages(text.replacing("connections = 8\npass", with: "connections = 9\npass"))
        #expect(right == ["1:1 there is no [table NAME], so clients get nothing"])
    }

    @Test func `tunnels leave connections of both sides to others`() {
        let nothing = "1:1 there is no [table NAME], so clients get nothing"
        let text = Support.minimal().replacing("[backend]", with: "[limits]\ntunnels = 256\n[backend]")
        #expect(
            Support.messages(text) == [
                nothing, "5:1 tunnels may take all connections to the backend on which requests pass through",
            ])
        let more = text.replacing("[backend]", with: "[backend]\nmax_connections = 514")
        #expect(Support.messages(more) == [nothing])
        let fewClients = more.replacing("tunnels = 256", with: "tunnels = 256\nconnections = 511")
        #expect(Support.messages(fewClients) == [nothing, "5:1 tunnels may take most connections of clients"])
    }

    @Test func `loading from the disk reads the file and the files that it names`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rind-config-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data((Support.key + "\n").utf8).write(to: directory.appending(path: "id.key"))
        let file = directory.appending(path: "rind.ini")
        try Data(Support.minimal(identity: "principal = bearer\nkey = @file:id.key").utf8).write(to: file)
        #expect(Configuration.load(path: file.path()).configuration?.identity.key.bytes == Array(Support.key.utf8))

        let missing = Configuration.load(path: directory.appending(path: "none.ini").path())
        #expect(missing.configuration == nil)
        #expect(missing.diagnostics.map(\.message) == ["cannot read the file: no such file"])
        #expect(Configuration.load(path: directory.path()).configuration == nil)
        #expect(Configuration.load(path: "/dev/zero").configuration == nil)
    }
}

@Suite struct EnvironmentTests {
    @Test func `a variable that names a section but no key is an error with the nearest name`() {
        let (configuration, diagnostics) = Support.load(
            Support.minimal(), environment: ["RIND_BACKEND_IDLE_TIMOUT": "60s", "RIND_LOG": "debug"])
        #expect(configuration == nil)
        let errors = diagnostics.filter { $0.severity == .error }
        #expect(errors.map(\.position.file) == ["environment:RIND_BACKEND_IDLE_TIMOUT", "environment:RIND_LOG"])
        #expect(errors.first?.hint == "did you mean 'RIND_BACKEND_IDLE_TIMEOUT'?")
    }

    @Test func `other variables are nobody's business`() {
        let environment = ["RIND_REGENERATE": "1", "RINDX": "1", "RIND_": "1", "PATH": "/bin", "RIND_GATEWAYS_X": "1"]
        let (configuration, diagnostics) = Support.load(Support.withTable(), environment: environment)
        #expect(configuration != nil)
        #expect(Support.rendered(diagnostics) == "")
    }

    @Test func `a variable for a named section is a warning`() {
        let (configuration, diagnostics) = Support.load(Support.withTable(), environment: ["RIND_TABLE_ALBUMS_ID": "x"])
        #expect(configuration != nil)
        #expect(diagnostics.map(\.severity) == [.warning])
    }

    @Test func `a variable may name a file and other variables`() throws {
        let environment = ["RIND_IDENTITY_KEY": "@file:${DIR}/key", "DIR": "/run/secrets"]
        let text = Support.minimal(identity: "principal = bearer")
        let loaded = Support.load(text, environment: environment, files: ["/run/secrets/key": Support.key])
        #expect(loaded.configuration?.identity.key.bytes == Array(Support.key.utf8))
    }

    @Test func `a variable with ' ;' in it is taken whole`() {
        let loaded = Support.load(Support.minimal(), environment: ["RIND_SPOOL_DIR": "/tmp/a ;b"])
        #expect(loaded.configuration?.spool.dir == "/tmp/a ;b")
    }
}

@Suite struct SecretTests {
    private let secret = "hunter2"

    @Test func `no message shows a secret, wherever it stands`() throws {
        let text = try String(contentsOf: Support.fixtures.appending(path: "secrets.ini"), encoding: .utf8)
        let (_, diagnostics) = Support.load(text)
        #expect(!diagnostics.isEmpty)
        #expect(!Support.rendered(diagnostics).contains(secret))
        #expect(!String(reflecting: diagnostics).contains(secret))
    }

    @Test(arguments: [
        "principal = bearer\n key = KEY", "principal = bearer\n  key=KEY", "principal = bearer\nkéy = KEY",
        "principal = KEY\nkey = @file:key", "principal = bearer KEY\nkey = KEY", "principal = bearer\nkéy KEY",
        "auth_ttl = KEY", "principal = bearer\n kéy = KEY", "principal = \"KEY\"", "principle = KEY", "KEY = bearer",
        "principal = bearer\nauth_ttl = 1m KEY",
    ])
    func `the identity key is not shown wherever it was put by mistake`(identity: String) {
        for key in [Support.key, "kQ9wT2mX7vLpR4sYzB1nHcJ6dFgA8eUo", "kQ9w/T2mX7+vLpR4sYz/B1nHcJ6dFgA8eUo="] {
            let text = Support.minimal(identity: identity.replacing("KEY", with: key))
            let (_, diagnostics) = Support.load(text)
            #expect(!diagnostics.isEmpty)
            for part in [key.prefix(12), key.suffix(12)] {
                #expect(!Support.rendered(diagnostics).contains(part), "\(Support.rendered(diagnostics))")
            }
        }
    }

    @Test(arguments: ["RIND_IDENTITY_KEY", "RIND_IDENTITY_KYE", "RIND_BACKEND_URL", "RIND_TABLE_KEY"])
    func `no variable's secret is shown`(variable: String) {
        let value = variable == "RIND_BACKEND_URL" ? "http://u:\(secret)@backend.test" : secret
        let (_, diagnostics) = Support.load(Support.minimal(), environment: [variable: value])
        #expect(!diagnostics.isEmpty)
        #expect(!Support.rendered(diagnostics).contains(secret))
    }

    @Test func `text from variables and files is not echoed by messages`() {
        let keys = KeyTable.keys.filter { $0.section != "table" && $0.name != "dir" && $0.name != "ca_file" }
        for key in keys {
            let text = "[\(key.section)]\n\(key.name) = ${V}\n"
            let (_, diagnostics) = Support.load(text, environment: ["V": "\(secret) |,{\"\(secret)"])
            #expect(!Support.rendered(diagnostics).contains(secret), "\(key.name): \(Support.rendered(diagnostics))")
        }
    }

    @Test func `a loaded configuration does not print its key`() throws {
        let c = try #require(Support.load(Support.minimal()).configuration)
        var dump = ""
        Swift.dump(c, to: &dump)
        #expect(!dump.contains("48, 49, 50") && !"\(c)".contains("48, 49, 50") && !dump.contains(Support.key))
        #expect("\(c.identity.key)" == "********")
    }

    @Test(arguments: [true, false])
    func `a key file that everybody can read is warned of, and another file is not`(isOpen: Bool) throws {
        let text = "[identity]\nprincipal = bearer\nkey = @file:identity.key\n[backend]\nurl = @file:url\n"
        let (configuration, diagnostics) = Configuration.load(
            text: Array(text.utf8), file: "/etc/rind/rind.ini", environment: [:],
            isOpen: { path in
                isOpen || path != "/etc/rind/identity.key"
            },
            readFile: { path throws(Substitution.FileError) in
                Array((path == "/etc/rind/url" ? "http://backend.test" : Support.key).utf8)
            })
        #expect(configuration != nil)
        #expect(
            diagnostics.filter { $0.position.line == 3 }.map { "\($0.severity) \($0.position.line) \($0.message)" }
                == (isOpen ? ["warning 3 everybody on this machine can read 'identity.key'"] : []))
        #expect(!Support.rendered(diagnostics).contains(Support.key))
    }

    @Test(arguments: [(0o600, false), (0o644, true)])
    func `behind a link it is the key file that counts`(mode: Int, warns: Bool) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rind-config-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let key = directory.appending(path: "real.key").path(percentEncoded: false)
        try Data((Support.key + "\n").utf8).write(to: URL(filePath: key))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
        // As in a mounted secret of Kubernetes: a link to a link.
        for (name, target) in [("data.key", key), ("id.key", "data.key")] {
            let link = directory.appending(path: name).path(percentEncoded: false)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        }
        let file = directory.appending(path: "rind.ini")
        try Data(Support.minimal(identity: "principal = bearer\nkey = @file:id.key").utf8).write(to: file)
        let (configuration, diagnostics, _, _) = Configuration.load(path: file.path(percentEncoded: false))
        #expect(configuration != nil)
        let messages = diagnostics.map(\.message)
        #expect(messages.contains("everybody on this machine can read 'id.key'") == warns, "\(messages)")
    }

    @Test func `a variable that names a key of another section is told the right one`() {
        let (_, diagnostics) = Support.load(Support.minimal(), environment: ["RIND_STATE_IDLE_TIMEOUT": "1s"])
        #expect(diagnostics.compactMap(\.hint) == ["did you mean 'RIND_BACKEND_IDLE_TIMEOUT'?"])
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfig
import JSONBytes
import Logging
import StateStore
import SyncModel
import Testing

@testable import rind

@Suite struct PlainCommandTests {
    @Test func `keys prints the listing of the key table`() async throws {
        let result = try await RunningCommand.run("keys")
        #expect(result.status == 0)
        #expect(result.out == KeyTable.listing())
    }

    @Test(arguments: [["version"], ["--version"]])
    func `the version is printed`(arguments: [String]) async throws {
        let result = try await RunningCommand.run(arguments)
        #expect(result.status == 0)
        #expect(result.out == "rind \(Version.number)\n")
    }

    @Test func `the help lists every exit status, and every line of it fits a terminal`() async throws {
        let result = try await RunningCommand.run("--help")
        #expect(result.status == 0)
        for status in ExitStatus.allCases { #expect(result.out.contains("\(status.rawValue)  \(status.meaning)\n")) }
    }

    @Test func `every exit status stands in the operator's manual with its meaning`() throws {
        let manual = try Place.text("docs/OPERATIONS.md")
        for status in ExitStatus.allCases {
            #expect(manual.contains("| \(status.rawValue) | \(status.meaning) |"), "\(status)")
        }
    }

    @Test(
        arguments: [
            "serve", "check", "keys", "pull", "conform", "replicas", "journal", "why", "explain", "demo", "version",
        ])
    func `every subcommand teaches by examples`(name: String) async throws {
        let result = try await RunningCommand.run(name, "--help")
        #expect(result.status == 0)
        #expect(result.out.contains("EXAMPLE"))
        #expect(result.out.contains("rind \(name)"))
    }

    @Test func `the demo's configuration is the quickstart's`() throws {
        #expect(try QuickstartConfiguration.text == Place.text("examples/quickstart/rind.ini"))
    }

    @Test func `the demo runs all its steps and every check of it holds`() async throws {
        let result = try await RunningCommand.run("demo", "--once")
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        #expect(result.out.contains("8  The devices meet"))
        #expect(result.out.contains(#/operators http:\/\/127\.0\.0\.1:\d+   \/status/#))
        #expect(result.out.contains(#/\n   rind_syncs_total\{kind="pull",mode="first",result="ok",code=""\} 2\n/#))
        #expect(result.out.contains(#/\n   rind_rows_total\{table="tasks",direction="out"\} \d+\n/#))
        #expect(result.out.contains("/status'"))
        #expect(result.out.hasSuffix("checks hold.\n"))
        #expect(!result.out.contains("\u{1B}"), "no colours in a pipe")
    }

    @Test func `what the configuration keeps is kept, and nothing longer`() {
        var ledger = Configuration.Ledger()
        ledger.maxOffline = .seconds(90 * 86_400)
        ledger.rewind = .seconds(3_600)
        let retention = ledger.retention(at: 10_000_000_000)
        #expect(retention.now == 10_000_000_000)
        #expect(retention.seenBefore == 2_224_000_000 - 86_400_000 && retention.supersededBefore == 2_224_000_000)
        #expect(retention.undoBefore == 9_996_400_000)
    }

    @Test func `a log line cannot be forged by what others say`() {
        let line = LogLine(
            time: 1_732_178_235_123, level: .info, message: "a\nb",
            fields: ["path": "/x y\u{1B}[31m", "code": "200"])
        #expect(
            String(decoding: line.text, as: UTF8.self)
                == "2024-11-21T08:37:15.123Z info    a\\nb code=200 path=\"/x y\\u{1b}[31m\"\n")
    }

    @Test func `marks of direction and what is not seen are escaped in logs and on screens`() {
        let text = "a\u{202E}b\u{9B}31m\u{200B}"
        let line = LogLine(time: 0, level: .info, message: "m", fields: ["record": "\(text)"])
        #expect(String(decoding: line.text, as: UTF8.self).hasSuffix("record=\"a\\u{202e}b\\u{9b}31m\\u{200b}\"\n"))
        #expect(String(decoding: line.json, as: UTF8.self).hasSuffix("\"record\":\"a\\u202eb\\u009b31m\\u200b\"}\n"))
        #expect(text.shown(upTo: 80) == "a\\u{202e}b 31m\\u{200b}")
    }

    @Test func `a log line for machines has numbers where things are counted`() throws {
        let line = LogLine(
            time: 0, level: .error, message: "\"", fields: ["status": "200", "time": "x", "principal": "123"])
        #expect(
            String(decoding: line.json, as: UTF8.self)
                == #"{"time":"1970-01-01T00:00:00.000Z","level":"error","message":"\"","principal":"123","status":200,"_time":"x"}"#
                + "\n")
    }

    @Test func `a log line for machines keeps names as texts and spells numbers and truths as such`() throws {
        let line = LogLine(
            time: 0, level: .info, message: "m",
            fields: [
                "replica": "0123456789012345", "principal": "123456789012", "request_id": "7", "records": "12",
                "conflicts.tasks": "2", "status": "007", "duration_ms": "+7", "lines": "-3", "cut": "true",
                "has_time": "yes", "port": "8790", "presented": "1732178235123", "made": .stringConvertible(7),
            ])
        let json = try JSONValue.parse(line.json.dropLast())
        for (name, value) in [("records", 12), ("conflicts.tasks", 2), ("lines", -3), ("port", 8790), ("made", 7)] {
            #expect(json[name]?.int64 == Int64(value), "\(name)")
        }
        #expect(json["presented"]?.int64 == 1_732_178_235_123 && json["cut"]?.bool == true)
        for name in ["replica", "principal", "request_id", "status", "duration_ms", "has_time"] {
            #expect(json[name]?.string != nil, "\(name)")
        }
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import NIOConcurrencyHelpers

/// Looks after the process of a gateway from outside: its life, its memory, its log.
struct GatewayWatch: Sendable {
    let gateway: GatewayProcess
    private let place = NIOLockedValueBox<UInt64>(0)

    init(_ gateway: GatewayProcess) { self.gateway = gateway }

    /// The memory that it has now, in bytes; nil where the system does not tell.
    var memory: Int? {
        guard let status = try? String(contentsOfFile: "/proc/\(gateway.processIdentifier)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
        else { return nil }
        return Int(line.filter(\.isNumber)).map { $0 * 1_024 }
    }

    /// How many descriptors it has open; nil where the system does not tell.
    var descriptors: Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(gateway.processIdentifier)/fd").count
    }

    /// How often its threads have given a processor up or lost it so far; nil where the system does not tell.
    var contextSwitches: Int? {
        let tasks = "/proc/\(gateway.processIdentifier)/task"
        guard let threads = try? FileManager.default.contentsOfDirectory(atPath: tasks) else { return nil }
        return threads.reduce(0) { sum, thread in
            let text = (try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)) ?? ""
            let counts = text.split(separator: "\n").filter { $0.contains("voluntary_ctxt_switches:") }
            return sum + counts.compactMap { Int($0.filter(\.isNumber)) }.reduce(0, +)
        }
    }

    /// The lines of the log since the last call that tell of a defect, with the line that tells its cause.
    func defects() throws -> [String] {
        let handle = try FileHandle(forReadingFrom: gateway.errors)
        defer { try? handle.close() }
        let start = place.withLockedValue { $0 }
        try handle.seek(toOffset: start)
        var found: [String] = []
        while let data = try handle.read(upToCount: 4 << 20), !data.isEmpty {
            guard let end = data.lastIndex(of: 0x0A) else { break }
            let whole = data[data.startIndex...end]
            place.withLockedValue { $0 += UInt64(whole.count) }
            try handle.seek(toOffset: place.withLockedValue { $0 })
            found += Self.defects(in: whole)
        }
        return found
    }

    /// The lines of the log that tell of the request which has failed so, from the last 32 MiB.
    func lines(about error: any Error) throws -> [String] {
        let answer: RawAnswer
        switch error {
        case StackDevice.Failure.pull(let failed), StackDevice.Failure.push(let failed): answer = failed
        default: return []
        }
        guard let id = answer["X-Request-ID"], let handle = try? FileHandle(forReadingFrom: gateway.errors) else {
            return []
        }
        defer { try? handle.close() }
        let end = try handle.seekToEnd()
        try handle.seek(toOffset: end - min(end, 32 << 20))
        let data = try handle.readToEnd() ?? Data()
        return data.split(separator: 0x0A).filter { $0.firstRange(of: Data(id.utf8)) != nil }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private static let signs = [#""code":"internal"#, "Fatal error", "WARNING: ThreadSanitizer"]

    private static func defects(in data: Data) -> [String] {
        guard signs.contains(where: { data.firstRange(of: Data($0.utf8)) != nil }) else { return [] }
        let lines = data.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        let places = lines.indices.filter { place in signs.contains { lines[place].contains($0) } }
        return places.map { place in
            let id = lines[place].firstRange(of: #""request_id":""#)
                .map { lines[place][$0.upperBound...].prefix { $0 != "\"" } }
            // Other requests' lines may come between.
            let cause = lines[place...].prefix(200).first { line in
                line.contains(#""message":"cause""#) && id.map(line.contains) ?? false
            }
            // A sanitizer's report is several stacks, among the lines of the log.
            let stacks =
                lines[place].contains("ThreadSanitizer")
                ? lines[place...].dropFirst().prefix(200).filter { !$0.hasPrefix("{") }.prefix(100) : []
            return ([lines[place]] + stacks + (cause.map { [$0] } ?? [])).joined(separator: "\n    ")
        }
    }
}

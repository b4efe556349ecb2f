// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayConfig
import JSONBytes
import LineProjection
import SyncModel

/// `rind check --sample`: shows stream lines as the records that an app would get, and what looks wrong in that.
struct SampleReport {
    /// The most bytes of a sample.
    static let maximumBytes = 256 << 20

    private let configuration: Configuration
    private let schemaVersion: Int
    private var projector: LineProjector
    private var findings: SampleFindings

    /// Creates a report for apps of a schema version, the newest if none is given.
    init(_ configuration: Configuration, schemaVersion: Int?) throws {
        let schema = configuration.schema
        let version = schemaVersion ?? schema.version
        guard version >= schema.oldest, version <= schema.version else {
            throw CommandFailure(
                .usage, "The configuration knows the schema versions \(schema.oldest) to \(schema.version).")
        }
        self.configuration = configuration
        self.schemaVersion = version
        let rules = configuration.envelopeRules
        projector = LineProjector(
            Projection(schema: schema, schemaVersion: version, rules: rules), key: SipHash.Key(0, 0))
        projector.observer = ProjectionObserver()
        projector.needsContent = false
        findings = SampleFindings(schema: schema, schemaVersion: version, rules: rules, quotesValues: true)
    }

    /// Reads a file and prints everything.
    ///
    /// - Returns: False if something looks wrong.
    mutating func run(path: String) throws -> Bool {
        let bytes = try Self.read(path)
        let name = path == "-" ? "standard input" : path
        Console.out("\n\(name), as an app of schema version \(schemaVersion) gets it:\n")
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !line.withUnsafeBytes(LineSplitter.isBlank) else { continue }
            line.withUnsafeBytes { show($0, number: number) }
        }
        guard projector.counters.lines > 0 else { throw CommandFailure(.badData, "There are no lines in \(name).") }
        Console.out("")
        for text in findings.summary(projector) { Console.out(text) }
        return !findings.remarks(projector).contains(where: \.isFault) && projector.counters.quarantined.isEmpty
    }

    private mutating func show(_ line: UnsafeRawBufferPointer, number: Int) {
        var output = JSONWriter()
        let result: LineResult
        projector.observer?.conversions = []
        if line.count > configuration.pull.maxLine {
            result = projector.projectTooLong(
                head: UnsafeRawBufferPointer(rebasing: line.prefix(4_096)),
                tail: UnsafeRawBufferPointer(rebasing: line.suffix(1_024)))
        } else {
            result = projector.project(line, into: &output)
        }
        let document = try? JSONScanner.document(line)
        let type = document.map { $0.member(configuration.backend.typeField)?.string } ?? projector.quarantined?.type
        findings.note(result, type: type, of: projector, output.bytes)
        if let document { findings.noteMembers(document, result) }
        if case .quarantined = result, let entry = projector.quarantined { findings.note(entry, number: number) }
        let (meaning, detail) = describe(result, output.bytes)
        Console.out("\(String(number).leftPadded(to: 5))  \((type ?? "?").shown(upTo: 60))  \(meaning)")
        if let detail { Console.out("       " + detail) }
        for conversion in projector.observer?.conversions ?? [] {
            let column = configuration.schema.tables[conversion.table].columns[conversion.column].name
            let outcome = conversion.app.map { "→ \($0.shown(upTo: 80))" } ?? "cannot be read: the column's default"
            Console.out("       \(column): \(conversion.value.shown(upTo: 80)) \(outcome)")
        }
    }

    private func describe(_ result: LineResult, _ output: [UInt8]) -> (String, detail: String?) {
        let tables = configuration.schema.tables
        func text(_ range: Range<Int>) -> String { String(decoding: output[range], as: UTF8.self) }
        switch result {
        case .upsert(let table, _, _, let range): return ("→ \(tables[table].name), record", text(range))
        case .delete(let table, _, let all, _, let range):
            let sources = all ? " whatever its sources" : ""
            return ("→ \(tables[table].name), deleted \(text(range))\(sources)", nil)
        case .deleteWhere(let table, _, let column, _, _, let range):
            let name = tables[table].columns[column].name
            return ("→ \(tables[table].name), deleted where \(name) is \(text(range))", nil)
        case .ackOnly: return ("moves a checkpoint, nothing else", nil)
        case .idMapping:
            let mapping = projector.idMapping
            return ("the id of what a client has made", mapping.map { "\($0.table) \($0.clientID) is \($0.backendID)" })
        case .complete: return ("the stream is complete", nil)
        case .reset: return ("the backend asks for a reset", nil)
        case .unknownType: return ("→ nothing: no table of this schema version takes it", nil)
        case .quarantined(let reason, _):
            let id = projector.quarantined?.id.map { ", id \($0.shown(upTo: 80))" } ?? ""
            return ("quarantined: \(reason.rawValue)\(id)", reason.explanation)
        }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let unreadable = CommandFailure(.noInput, "The sample '\(path)' cannot be read.")
        guard let handle = path == "-" ? .standardInput : FileHandle(forReadingAtPath: path) else { throw unreadable }
        var bytes: [UInt8] = []
        while true {
            let chunk: Data?
            do { chunk = try handle.read(upToCount: 1 << 20) } catch { throw unreadable }
            guard let chunk, !chunk.isEmpty else { return bytes }
            bytes += chunk
            guard bytes.count <= maximumBytes else {
                throw CommandFailure(
                    .badData, "The sample has more than \(maximumBytes >> 20) MiB; take a piece of it.")
            }
        }
    }
}

extension QuarantinedLine.Reason {
    /// The mistake, for an operator who looks at the line.
    var explanation: String {
        switch self {
        case .invalidJSON: "the line is not JSON"
        case .invalidUTF8: "the line is not UTF-8"
        case .tooLong: "the line is longer than '[pull] max_line'"
        case .tooDeep: "the line is nested deeper than '[limits] json_depth'"
        case .notAnObject: "the line is no JSON object: each line holds one, without an array around them"
        case .noEnvelope: "the line lacks its type or its data"
        case .noID: "the record has no id where the table's 'id' or 'delete' looks for it"
        case .unsafeID: "an id may have letters, digits, '_', '.' and '-', and be neither '.' nor '..'"
        case .notARecord: "the line's data is no object"
        case .unreadableValue: "a value could not be read; the record goes out with the column's default"
        }
    }
}

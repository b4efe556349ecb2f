// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import JSONBytes
import LineProjection
import SyncModel

/// The first lines of a stream, read as the gateway reads them.
struct StreamBeginning {
    /// The first line that is none, and why.
    private(set) var fault: String?
    /// The number of whole lines that came.
    private(set) var count = 0
    /// True if the line that ends a stream came: the complete line, or a reset.
    private(set) var hasEnd = false
    /// True if a reset came.
    private(set) var isReset = false
    /// The newest token of each namespace.
    private(set) var vector = CheckpointVector()
    /// The types of records and deletions that tables take.
    private(set) var types: [String] = []
    /// Types that no table takes.
    private(set) var unknown: [String] = []
    /// The number of lines that would be quarantined, and the reason of the first.
    private(set) var quarantined: (count: Int, reason: String)?

    /// The suspected mistakes of the mapping, as `rind check --sample` judges it.
    var remarks: [SampleRemark] { findings.remarks(projector) + findings.quarantineRemarks(projector.counters) }

    private let configuration: Configuration
    private var projector: LineProjector
    private var findings: SampleFindings

    /// Reads the bytes of a stream; the last line counts only with its end, or if `isWhole` says that no more comes.
    init(_ bytes: [UInt8], isWhole: Bool, _ configuration: Configuration) {
        self.configuration = configuration
        let schema = configuration.schema
        let projection = Projection(
            schema: schema, schemaVersion: schema.version, rules: configuration.envelopeRules)
        projector = LineProjector(projection, key: SipHash.Key(0, 0))
        projector.needsContent = false
        projector.observer = ProjectionObserver()
        findings = SampleFindings(
            schema: schema, schemaVersion: schema.version, rules: configuration.envelopeRules, quotesValues: false)
        var splitter = LineSplitter(maximumLength: bytes.count)
        bytes.withUnsafeBytes { bytes in
            splitter.feed(bytes) { event in
                guard fault == nil, case .line(let line) = event else { return }
                count += 1
                read(line)
            }
        }
        guard splitter.finish() > 0, fault == nil, isWhole else { return }
        count += 1
        fault = "line \(count) does not end with a newline, so it does not count"
    }

    private mutating func read(_ line: UnsafeRawBufferPointer) {
        guard let document = try? JSONScanner.document(line) else { return failed("is no JSON") }
        guard document.kind == .object else {
            return failed("is of the kind \(document.kind), and each line must be an object")
        }
        let backend = configuration.backend
        guard let type = document.member(backend.typeField)?.string, !type.isEmpty else {
            return failed("has no text at '\(backend.typeField)' ([backend] type_field)")
        }
        // A number does as a token, and is a finding.
        let token = document.member(backend.ackField)
        guard token?.string?.isEmpty == false || token?.kind == .number else {
            return failed("(\(type.shown(upTo: 60))) has no text at '\(backend.ackField)' ([backend] ack_field)")
        }
        var output = JSONWriter()
        let result = projector.project(line, into: &output)
        findings.note(result, type: type, of: projector, output.bytes)
        findings.noteMembers(document, result)
        if let checkpoint = projector.lastCheckpoint { vector.advance(to: checkpoint) }
        switch result {
        case .upsert, .delete, .deleteWhere: Self.note(type, in: &types)
        case .ackOnly, .idMapping: break
        case .complete: hasEnd = true
        case .reset: (hasEnd, isReset) = (true, true)
        case .unknownType: Self.note(type, in: &unknown)
        case .quarantined(let reason, _):
            quarantined = ((quarantined?.count ?? 0) + 1, quarantined?.reason ?? "line \(count): \(reason.rawValue)")
            if let entry = projector.quarantined { findings.note(entry, number: count) }
        }
    }

    private mutating func failed(_ text: String) { fault = "line \(count) \(text)" }

    private static func note(_ type: String, in types: inout [String]) {
        let type = type.shown(upTo: 60)
        if types.count < 20, !types.contains(type) { types.append(type) }
    }
}

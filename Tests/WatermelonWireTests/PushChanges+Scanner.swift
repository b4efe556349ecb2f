// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel
import WatermelonWire

extension PushChanges {
    /// Passes a scanner before the record's object to `body`.
    func withScanner<R, E: Error>(
        of record: PushedRecord, _ body: (inout JSONScanner) throws(E) -> R
    ) throws(E) -> R {
        try bytes.withUnsafeBufferPointer { (buffer) throws(E) in
            let object = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[record.range])
            var scanner = JSONScanner(object, maximumDepth: .max)
            return try body(&scanner)
        }
    }
}

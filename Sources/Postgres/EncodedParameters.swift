// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Holds the values of a statement's parameters as libpq wants them: a pointer, a length and a format for each.
struct EncodedParameters {
    private var bytes: [UInt8] = []
    /// The position of each value in the bytes; nil for NULL.
    private var ranges: [Range<Int>?] = []

    init(_ parameters: [PostgresParameter]) {
        for parameter in parameters {
            guard let encoded = parameter.encoded else {
                ranges.append(nil)
                continue
            }
            ranges.append(bytes.count..<bytes.count + encoded.count)
            bytes += encoded
        }
        // An empty value needs an address too: none would mean NULL.
        bytes.append(0)
    }

    /// Calls `body` with arrays that are valid until it returns.
    func withPointers<R>(_ body: ([UnsafePointer<CChar>?], [CInt], [CInt]) -> R) -> R {
        bytes.withUnsafeBytes { buffer in
            let start = buffer.assumingMemoryBound(to: CChar.self).baseAddress
            let values = ranges.map { range in range.flatMap { range in start.map { $0 + range.lowerBound } } }
            return body(
                values, ranges.map { CInt(clamping: $0?.count ?? 0) }, ranges.map { _ in 1 })
        }
    }
}

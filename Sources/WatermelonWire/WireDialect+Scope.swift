// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension WireDialect {
    /// Reads the scope of a sync from its address: what says which data a sync is about must be known before its body
    /// may be read.
    ///
    /// - Parameters:
    ///   - path: The request target without its query, still percent-encoded.
    ///   - query: The query after the question mark, still percent-encoded.
    /// - Returns: The values of all parts that calls to the backend use.
    /// - Throws: ``WireError`` if a part is missing, stated twice with different values, or hostile.
    package func scope(path: String, query: String) throws(WireError) -> SyncScope {
        guard !scope.isEmpty else { return .none }
        let segments = (syncPaths + pullPaths + pushPaths).lazy.compactMap { $0.values(in: path) }.first ?? [:]
        let parameters = try QueryParameters(query, limit: limits.queryParameters)
        var values: [ScopeName: String] = [:]
        for (name, isSegment) in scope.sorted(by: { $0.key < $1.key }) {
            var stated: [UInt8]?
            let given =
                switch name.source {
                case .path: segments[name.name].map { [$0] } ?? []
                case .query: parameters.values(named: [name.name])
                }
            for value in given {
                switch SyncScope.defect(of: value, isSegment: isSegment) {
                case .missing: continue
                case .hostile(let reason): throw .scopeValue(name, reason)
                case nil: break
                }
                guard stated == nil || stated == value else { throw .scopeTwice(name) }
                stated = value
            }
            guard let stated else { throw .scopeMissing(name) }
            values[name] = String(decoding: stated, as: UTF8.self)
        }
        return SyncScope(values)
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension Configuration {
    /// The parts of a sync's address that calls to the backend use, each with whether one has it in its path.
    package var scope: [ScopeName: Bool] {
        let calls =
            [backend.stream, backend.ack, backend.list, backend.forget, push.path].compactMap(\.self)
            + schema.tables.flatMap(\.calls.all)
        return calls.reduce(into: [:]) { scope, call in
            let segments = call.segmentPlaceholders
            for placeholder in call.placeholders {
                guard let name = ScopeName(placeholder: placeholder) else { continue }
                scope[name, default: false] = scope[name] == true || segments.contains(placeholder)
            }
        }
    }
}

extension Table.Calls {
    /// All calls that there are.
    fileprivate var all: [Call] {
        [create, update, remove, read].compactMap { if case .call(let call) = $0 { call } else { nil } }
    }
}

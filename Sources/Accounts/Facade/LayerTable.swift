// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Remembers the chunks of the layers that were handed out.
final class LayerTable: Sendable {
    private static let maximum = 100_000

    private struct State {
        var layers: [LayerID: LedgerLayer] = [:]
        var order: [LayerID] = []
        var hasForgotten = false
    }

    private let state = NIOLockedValueBox(State())

    func keep(_ layers: [LedgerLayer]) {
        state.withLockedValue { state in
            for layer in layers where state.layers[layer.id] == nil {
                state.layers[layer.id] = layer
                state.order.append(layer.id)
            }
            let surplus = state.order.count - Self.maximum
            guard surplus > 0 else { return }
            for layer in state.order.prefix(surplus) { state.layers[layer] = nil }
            state.order.removeFirst(surplus)
            state.hasForgotten = true
        }
    }

    subscript(layer: LayerID) -> LedgerLayer? {
        get throws(StateError) {
            let (found, hasForgotten) = state.withLockedValue { ($0.layers[layer], $0.hasForgotten) }
            if found == nil, hasForgotten { throw .ledgerChanged }
            return found
        }
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting

/// A genuine device in a flood: it changes something, syncs as often as it must, and compares.
struct FloodDevice: Sendable {
    var device: StackDevice
    let user: String

    /// A sync of an app whose user tries again for a while.
    mutating func sync(with backend: DemoBackend, round: Int) async -> Flood.Sync {
        let began = ContinuousClock.now
        var sync = Flood.Sync(device: device.token, tries: 0, time: .zero)
        do {
            if device.model.lastPulledAt != nil {
                try device.model.create("tags", ["label": .string("\(device.token) \(round)")])
            }
            while true {
                sync.tries += 1
                do {
                    try await device.sync()
                    break
                } catch {
                    guard ContinuousClock.now - began < Flood.patience else { throw error }
                    // What the gateway asks for, which is a few seconds.
                    try await Task.sleep(for: .seconds(2))
                }
            }
            sync.time = ContinuousClock.now - began
            // What the others have made meanwhile is seen by the next sync.
            let own = device.model.contents["tags"]?.filter { "\($0)".contains(device.token) }.count ?? 0
            let records =
                try await backend.records(of: user)["tags"]?.filter { "\($0)".contains(device.token) }.count ?? 0
            if own != records { sync.problem = "\(own) tags of its own for \(records) in the backend" }
        } catch {
            sync.time = ContinuousClock.now - began
            sync.problem = "\(error)"
        }
        return sync
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Keeps both ends of a world's gateways: the devices of one user, the backend, and the changes on either side.
///
/// It also keeps the facts that the protocol cannot carry, so that the oracle knows where device and backend may
/// differ. A schedule decides everything here; nothing is drawn, and the time is the world's.
package final class Users {
    let setup: WorldSetup
    /// Milliseconds since 1970, as the world has it.
    var now: Instant = 1_700_000_000_000
    /// The other side.
    package var backend = SimulatedBackend()
    /// The phones.
    package internal(set) var devices: [SimulatedDevice] = []
    /// Operations of pushes that are still on their way.
    var latePushes: [WorldBackend.Operation] = []
    /// Records that devices had when the state lost what it knew of them.
    var adrift: Set<SimulatedKey> = []
    /// Records that a restored device has not pushed by its own account, although it has: it may get them as created.
    var remade: Set<SimulatedKey> = []
    /// All records that were ever pushed.
    var pushed: Set<SimulatedKey> = []
    /// The records that a device has deleted while they were on their way to the backend.
    var unmade: Set<SimulatedKey> = []
    /// Those of them that the backend has never had: no line tells a copy of the device (documented).
    var withdrawn: Set<SimulatedKey> { unmade.subtracting(backend.everSeen) }
    var recordCount = 0
    private var complaints: [String] = []
    /// The events so far, if they are traced.
    package private(set) var trace: [String] = []
    private let isTracing: Bool

    /// Creates a small backend with a project, a task, a comment, two folders and a file of each feed.
    init(_ setup: WorldSetup, isTracing: Bool) {
        self.setup = setup
        self.isTracing = isTracing
        backend.ids.isOn = setup.makesIDs
        for name in ["p0", "p1"] { backend.put(SimulatedKey(.projects, name), SimulatedRecord(value: 1)) }
        backend.put(SimulatedKey(.tasks, "t0"), SimulatedRecord(value: 1, parent: "p0"))
        if setup.hasFiles {
            backend.put(SimulatedKey(.comments, "c0"), SimulatedRecord(value: 1, parent: "t0"))
            backend.put(SimulatedKey(.folders, "d0"), SimulatedRecord(value: 1))
            backend.put(SimulatedKey(.folders, "d1"), SimulatedRecord(value: 1, parent: "d0"))
            for feed in 0...1 {
                backend.put(SimulatedKey(.files, "f\(feed)"), SimulatedRecord(value: 1, parent: "o0"), feed: feed)
            }
        }
        for index in 0..<setup.devices {
            let session = Session(rawValue: setup.hasOwnSessions ? "s\(index)" : "s")
            let manners = setup.manners[index % setup.manners.count]
            devices.append(SimulatedDevice(name: "d\(index)", session: session, version: 1, manners: manners))
        }
    }

    func note(_ text: @autoclosure () -> String) {
        if isTracing { trace.append("\(now.milliseconds % 100_000_000_000) \(text())") }
    }

    /// Checks if the gateway should have found the change that a push overwrites: one by another writer that came after
    /// the device's last version, and before the gateway looked for conflicts.
    func checkUnseen(_ operation: WorldBackend.Operation, of sync: WorldSync) {
        let key = operation.key
        guard setup.checksConflicts, setup.hasLedger, sync.presented != nil, let base = sync.bases[key],
            let row = backend.rows[key], row.changed <= max(sync.began, sync.lookedAt), row.changedBy != sync.device,
            row.record.projected(to: 1) != base.projected(to: 1),
            row.record.projected(to: 1) != sync.olderBases[key]?.projected(to: 1)
        else { return }
        // The check does not see these either (docs/ARCHITECTURE.md, Conflicts), and what its user may not see any
        // more is for the backend to refuse.
        if !backend.isVisible(key) || sync.hasMissed(key) || sync.isUndecided(key) { return }
        if row.damage != .none || backend.untold.contains(key) || adrift.contains(key) || !backend.retired.isEmpty {
            return
        }
        // What a push has deleted is not brought back in the next minutes, though a restored backend has it again.
        if backend.restored.contains(key), unmade.contains(key) { return }
        complain(
            "\(key) is \(row.record) since \(row.changed), \(devices[sync.device].name) has heard of \(base), and pushes"
        )
    }

    /// Notes that the gateway has broken a rule.
    func complain(_ sentence: String) { complaints.append(sentence) }

    func takeComplaints() -> [String] {
        defer { complaints = [] }
        return complaints
    }

    /// Notes that the contents of all devices are unknown from now on.
    func setAdrift() {
        for device in devices {
            adrift.formUnion(device.records.keys)
            adrift.formUnion(device.backup?.records.keys.map { $0 } ?? [])
        }
    }

    /// Sets adrift all records of the device at an index.
    func setAdrift(_ index: Int) { adrift.formUnion(devices[index].records.keys) }

    /// Sets adrift the records that only the device at an index has.
    func setStraysAdrift(of index: Int) {
        var others: Set<SimulatedKey> = []
        for (other, device) in devices.enumerated() where other != index { others.formUnion(device.records.keys) }
        adrift.formUnion(Set(devices[index].records.keys).subtracting(others))
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines

/// Does what a machine decides.
protocol Effects<Machine> {
    associatedtype Machine: SyncMachine
    associatedtype End

    /// What comes of an action that is an end; nil for one that is to be done.
    ///
    /// - Throws: What a failed sync ends with.
    mutating func end(_ action: Machine.Action, of machine: Machine) async throws -> End?

    /// Does an action.
    ///
    /// - Returns: What happened.
    mutating func perform(_ action: Machine.Action, of machine: Machine) async throws -> Machine.Event

    /// The event that an error stands for.
    ///
    /// - Throws: What the sync ends with, where the error stands for none.
    mutating func event(
        for error: any Error, of action: Machine.Action, of machine: Machine
    ) async throws -> Machine.Event
}

/// Drives a machine to its end: the one place where actions are done, and where errors end a sync or become events.
func drive<E: Effects>(_ machine: inout E.Machine, _ effects: inout E) async throws -> E.End {
    var action = machine.begin()
    while true {
        if let end = try await effects.end(action, of: machine) { return end }
        let event: E.Machine.Event
        do {
            event = try await effects.perform(action, of: machine)
        } catch {
            event = try await effects.event(for: error, of: action, of: machine)
        }
        action = machine.handle(event)
    }
}

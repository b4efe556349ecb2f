// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines

/// Carries out the decisions of a machine.
protocol Effects<Machine> {
    associatedtype Machine: SyncMachine
    associatedtype End

    /// Returns the end of a sync if the action is one; nil if the action has to be performed.
    ///
    /// - Throws: The error that a failed sync ends with.
    mutating func end(_ action: Machine.Action, of machine: Machine) async throws -> End?

    /// Performs an action.
    ///
    /// - Returns: The event that follows.
    mutating func perform(_ action: Machine.Action, of machine: Machine) async throws -> Machine.Event

    /// Returns the event for an error: the one table of errors that a machine goes on from.
    ///
    /// - Throws: The error that the sync ends with, if there is no event for this one.
    mutating func event(
        for error: any Error, of action: Machine.Action, of machine: Machine
    ) async throws -> Machine.Event
}

/// Drives a machine to its end.
///
/// This is the one place where actions are performed, and where errors end a sync or become events.
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

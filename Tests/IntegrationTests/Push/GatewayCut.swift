// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GRDB
import NIOConcurrencyHelpers

/// Ends a gateway of this process as a killed one ends.
///
/// First no request from it reaches the backend any more, then its state is copied as it is at this moment. Nothing
/// that it does afterwards is in the copy.
struct GatewayCut: Sendable {
    /// Where the copy is.
    let directory: String
    private let source: String
    private let backend: DemoBackend
    private let isCopied = NIOLockedValueBox(false)

    init(_ backend: DemoBackend, from source: String) {
        self.backend = backend
        self.source = source
        directory = source + "/cut"
    }

    var hasHappened: Bool { isCopied.withLockedValue(\.self) }

    func happen() async throws {
        backend.inject(DemoFault(times: .max, action: .loseRequest))
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        var configuration = Configuration()
        configuration.readonly = true
        let state = try DatabaseQueue(path: "\(source)/state.db", configuration: configuration)
        let copy = try DatabaseQueue(path: "\(directory)/state.db")
        try state.backup(to: copy)
        try state.close()
        try copy.close()
        isCopied.withLockedValue { $0 = true }
    }
}

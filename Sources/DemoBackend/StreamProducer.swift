// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A producer that runs the queries of one stream and returns its lines in chunks of about 64 KiB.
struct StreamProducer {
    private let backend: DemoBackend
    private let session: String
    private let store: DemoStore
    private let hook: StreamHook?
    private var cursor: StreamCursor
    private var failure: (any Error)?
    private var hasGivenLines = false

    private static let chunk = 64 << 10

    /// Begins the stream.
    ///
    /// - Throws: The error to answer with instead of a stream.
    init(_ request: StreamRequest, caller: Accounts.Caller, of backend: DemoBackend) async throws {
        let store = try await backend.streamStore(of: caller.sessionID)
        self.store = store
        self.backend = backend
        session = caller.sessionID
        hook = backend.streamHook
        let retirement = backend.retirement
        try retirement.check(request.types)
        let fresh = StreamCursor(
            request, caller: caller, configuration: backend.configuration, retirement: retirement)
        cursor = try await store.write { db in
            var cursor = fresh
            try cursor.begin(request, at: store.clock.now, ids: store.ids, in: db)
            return cursor
        }
    }

    /// Returns the next lines; nil at the end.
    ///
    /// - Throws: An error of a query, after all lines before it.
    mutating func next() async throws -> StreamLines? {
        var lines = cursor.takeLines()
        while failure == nil, lines.bytes.count < Self.chunk, let step = cursor.step {
            do {
                if cursor.isAtStepStart, let point = StreamPoint(step) { try await hook?(point) }
                let present = cursor
                cursor = try await store.write { db in
                    var cursor = present
                    try cursor.advance(in: db)
                    return cursor
                }
                lines.append(cursor.takeLines())
                try await backend.keepPositions(of: session, from: store)
            } catch {
                failure = error
            }
        }
        if lines.count > 0 {
            hasGivenLines = true
            return lines
        }
        if let failure { throw failure }
        return nil
    }
}

/// A point between two queries of a stream.
package struct StreamPoint: Hashable, Sendable {
    /// The kind of lines that the next query returns.
    package enum Part: String, Sendable {
        case deletes, backfill, upserts
    }
    /// The request type that is served.
    package var request: String
    /// The kind of the type's lines that come next.
    package var part: Part

    /// Creates the point before the lines of a part.
    package init(request: String, part: Part) {
        self.request = request
        self.part = part
    }

    init?(_ step: StreamCursor.Step) {
        switch step {
        case .deletes(let type, _): self.init(request: type.request, part: .deletes)
        case .backfill(let type, _): self.init(request: type.request, part: .backfill)
        case .upserts(let type): self.init(request: type.request, part: .upserts)
        case .retired, .rows, .idMaps, .bulk, .complete: return nil
        }
    }
}

/// A function called before the first query of each part of a stream; records that it writes are newer than the
/// stream's bound.
package typealias StreamHook = @Sendable (StreamPoint) async throws -> Void

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A queue of events, to be waited for one by one.
package struct Events<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    /// Creates an empty queue.
    package init(of type: Element.Type = Element.self) { (stream, continuation) = AsyncStream.makeStream() }

    /// Adds an event.
    package func add(_ element: Element) { continuation.yield(element) }

    /// Removes and returns the first event, and waits for it; nil only if the waiting task is cancelled.
    package func next() async -> Element? { await stream.first { _ in true } }
}

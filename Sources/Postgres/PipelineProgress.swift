// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Collects the results of a pipeline, and decides what its end means for the transaction.
///
/// The server answers one step after the other. After an error it skips the rest, COMMIT included; so an error for an
/// earlier step is certain, while a connection that ends without one leaves the outcome of COMMIT unknown.
struct PipelineProgress {
    /// A command on its way to the server.
    enum Step: Hashable, Sendable {
        /// A statement is prepared under this key.
        case prepare(PreparedStatements.Key)
        /// A statement of the transaction itself, whose rows mean nothing.
        case control
        case statement
        case commit
    }

    private let steps: [Step]
    private let isWrite: Bool
    private let maximumBytes: Int
    private var index = 0
    private var bytes = 0
    private var isAnswered = false
    private var isCommitted = false
    private var failure: PostgresError?
    private var results: [PostgresResult] = []

    init(_ steps: [Step], mode: PostgresMode, maximumBytes: Int) {
        self.steps = steps
        self.maximumBytes = maximumBytes
        isWrite = mode.isWrite
    }

    /// The step that the server is at; nil if all are over.
    var step: Step? { steps.indices.contains(index) ? steps[index] : nil }

    /// Takes a row of the current step.
    mutating func take(_ row: PostgresRow, bytes size: Int) throws(PostgresError) {
        guard step == .statement else { return }
        // A row takes some memory even if it has no values.
        bytes += size + 64
        guard bytes <= maximumBytes else { throw .resultTooLarge(limit: maximumBytes) }
        if results.count <= statementsBefore { results.append(PostgresResult()) }
        results[results.count - 1].rows.append(row)
    }

    /// Notes that the server has carried out the current step; `tag` is its name for what it did.
    mutating func complete(tag: String, count: Int) {
        isAnswered = true
        switch step {
        case .statement:
            if results.count <= statementsBefore { results.append(PostgresResult()) }
            results[results.count - 1].count = count
        // A transaction that has failed before answers COMMIT with ROLLBACK, which is not an error to the server.
        case .commit where tag == "COMMIT": isCommitted = true
        case .commit: fail(.rolledBack)
        case .prepare, .control, nil: break
        }
    }

    /// Notes that the server has refused the current step.
    ///
    /// - Parameters:
    ///   - error: The server's error.
    ///   - isFatal: True if the server ends the connection with it.
    mutating func refuse(_ error: PostgresError, isFatal: Bool) {
        switch error {
        // A pooler reports the loss of its own connection, but not how far the server had come.
        case .connectionLost: fail(ending(with: error))
        case _ where isFatal && step == .commit: fail(ending(with: error))
        default: fail(error)
        }
    }

    /// Goes to the next step; a server that has not answered the current one, nor refused one before, is none.
    mutating func advance() {
        if !isAnswered { fail(ending(with: .connectionLost("a statement was not answered"))) }
        isAnswered = false
        index += 1
    }

    /// Takes the end of all answers.
    mutating func finish() -> Result<[PostgresResult], PostgresError> {
        while step != nil { advance() }
        return failure.map { .failure($0) } ?? .success(results)
    }

    /// Returns the outcome if the connection ends now, for this reason.
    func ended(by error: PostgresError) -> Result<[PostgresResult], PostgresError> {
        if let failure { return .failure(failure) }
        return isCommitted ? .success(results) : .failure(ending(with: error))
    }

    private func ending(with error: PostgresError) -> PostgresError {
        isWrite && steps.last == .commit && !isCommitted ? .outcomeUnknown(PostgresError.clean("\(error)")) : error
    }

    private mutating func fail(_ error: PostgresError) {
        // A server may stop between COMMIT and Sync: its last word comes after the transaction has taken place.
        if !isCommitted { failure = failure ?? error }
    }

    private var statementsBefore: Int { steps[..<index].count { $0 == .statement } }
}

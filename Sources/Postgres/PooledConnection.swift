// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CPQ
import NIOCore

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A connection in the hands of the pool's thread, which alone uses it.
///
/// It carries one job at a time: all its statements and one Sync are sent at once, and results are read until the server
/// has answered the Sync. Rows are read one by one, so that a large result is noticed before it fills the memory.
final class PooledConnection {
    /// The occupation of the connection.
    enum State {
        case idle
        case running(Job)
        /// A transaction is open, and its next job has not come yet.
        case held(until: NIODeadline)
        /// A ROLLBACK is on its way, for nobody.
        case rollingBack(until: NIODeadline)
    }

    /// The end of a job.
    struct End {
        var outcome: Result<[PostgresResult], PostgresError>
        /// True if the connection can be used again.
        var isIntact: Bool
    }

    let id: UInt64
    let handle: ConnectionHandle
    private(set) var state = State.idle
    private let settings: PostgresSettings
    private var prepared: PreparedStatements
    /// The names of statements that are being prepared.
    private var pending: [PreparedStatements.Key: String] = [:]
    private var progress: PipelineProgress?
    private var needsFlush = false

    init(id: UInt64, handle: ConnectionHandle, settings: PostgresSettings) {
        self.id = id
        self.handle = handle
        self.settings = settings
        prepared = PreparedStatements(limit: settings.preparesStatements ? settings.maximumPrepared : 0)
    }

    /// The socket and the events to wait for; an idle connection is watched for its end.
    var interest: pollfd {
        pollfd(fd: PQsocket(handle.raw), events: Int16(needsFlush ? POLLIN | POLLOUT : POLLIN), revents: 0)
    }

    /// The time at which the occupation has to be over; nil while idle.
    var deadline: NIODeadline? {
        switch state {
        case .idle: nil
        case .running(let job): job.deadline
        case .held(let deadline), .rollingBack(let deadline): deadline
        }
    }

    /// The job that is running.
    var job: Job? { if case .running(let job) = state { job } else { nil } }

    /// True if the server has left the transaction in which a job has failed.
    var isOutsideTransaction: Bool { PQtransactionStatus(handle.raw) == PQTRANS_IDLE }

    /// Sends a job; returns its end if it could not be sent.
    func start(_ job: Job, at now: NIODeadline) -> End? {
        state = .running(job)
        return send(job.parts(settings, now: now), mode: job.mode)
    }

    /// Keeps the transaction open for its next job.
    func hold(until deadline: NIODeadline) { state = .held(until: deadline) }

    /// Sends a ROLLBACK; returns its end if it could not be sent.
    func rollBack(until deadline: NIODeadline) -> End? {
        state = .rollingBack(until: deadline)
        return send([("ROLLBACK", .control)], mode: .readOnly)
    }

    /// Makes the connection free for any job.
    func rest() { state = .idle }

    /// Returns the outcome of the running job if the connection ends now, for this reason.
    func outcome(endedBy error: PostgresError) -> Result<[PostgresResult], PostgresError> {
        progress?.ended(by: error) ?? .failure(error)
    }

    /// Sends and receives what is possible; returns the end of the job, or of the connection.
    func proceed() -> End? {
        // The server may want its answers to be read before it reads on.
        guard PQconsumeInput(handle.raw) == 1 else { return lost() }
        if needsFlush, let end = flush() { return end }
        while PQisBusy(handle.raw) == 0 {
            guard progress != nil else { return handle.isBroken ? lost() : nil }
            if let end = readResult() { return end }
        }
        return handle.isBroken ? lost() : nil
    }
}

// Sending.
extension PooledConnection {
    private func send(_ parts: [(PostgresStatement, PipelineProgress.Step)], mode: PostgresMode) -> End? {
        var steps: [PipelineProgress.Step] = []
        let isSent = parts.allSatisfy { send($0, as: $1, &steps) }
        // If something could not be sent, its step is the last one: without a COMMIT among them, none has taken place.
        progress = PipelineProgress(steps, mode: mode, maximumBytes: settings.maximumResultBytes)
        guard isSent, PQpipelineSync(handle.raw) == 1 else {
            return handle.isBroken ? lost() : abandon(.system(PostgresError.clean(handle.message)))
        }
        if let end = flush() { return end }
        beginStep()
        return nil
    }

    private func send(
        _ statement: PostgresStatement, as step: PipelineProgress.Step, _ steps: inout [PipelineProgress.Step]
    ) -> Bool {
        let key = PreparedStatements.Key(statement)
        var name = prepared.name(of: key) ?? pending[key]
        if name == nil, let new = prepared.makeName(besides: pending.count) {
            guard PQsendPrepare(handle.raw, new, key.sql, CInt(key.types.count), key.types) == 1 else { return false }
            pending[key] = new
            steps.append(.prepare(key))
            name = new
        }
        steps.append(step)
        return EncodedParameters(statement.parameters).withPointers { values, lengths, formats in
            let count = CInt(values.count)
            if let name {
                return PQsendQueryPrepared(handle.raw, name, count, values, lengths, formats, 1) == 1
            }
            return PQsendQueryParams(handle.raw, key.sql, count, key.types, values, lengths, formats, 1) == 1
        }
    }

    private func flush() -> End? {
        switch PQflush(handle.raw) {
        case 0: needsFlush = false
        case 1: needsFlush = true
        default: return lost()
        }
        return nil
    }
}

// Receiving.
extension PooledConnection {
    /// Asks libpq for the rows of the next step one by one; it takes that only before their results.
    private func beginStep() {
        switch progress?.step {
        case .statement, .control, .commit: PQsetSingleRowMode(handle.raw)
        case .prepare, nil: break
        }
    }

    /// Takes one result; returns the end of the job after the last.
    private func readResult() -> End? {
        guard let result = PQgetResult(handle.raw) else {
            // The end of a step. After the last one comes the answer to the Sync.
            guard progress?.step != nil, !handle.isBroken else { return lost() }
            progress?.advance()
            beginStep()
            return nil
        }
        defer { PQclear(result) }
        let received = ReceivedResult(raw: result)
        switch received.status {
        case PGRES_SINGLE_TUPLE, PGRES_TUPLES_OK, PGRES_COMMAND_OK: return take(received)
        case PGRES_PIPELINE_SYNC: return finish()
        case PGRES_PIPELINE_ABORTED: return nil
        case PGRES_FATAL_ERROR where received.state.isEmpty: return lost()
        case PGRES_FATAL_ERROR: progress?.refuse(received.error, isFatal: received.isFatal)
        // A COPY, or bytes that are no answer.
        default: return abandon(.system("the server answered with something else than a result"))
        }
        return handle.isBroken ? lost() : nil
    }

    private func take(_ received: ReceivedResult) -> End? {
        for index in 0..<received.rowCount {
            let row = received.row(index)
            do throws(PostgresError) {
                try progress?.take(row, bytes: received.byteCount(ofRow: index))
            } catch {
                return abandon(error)
            }
        }
        guard received.status != PGRES_SINGLE_TUPLE else { return nil }
        if case .prepare(let key) = progress?.step, let name = pending.removeValue(forKey: key) {
            prepared.confirm(key, as: name)
        }
        progress?.complete(tag: received.tag, count: received.count)
        return nil
    }

    private func finish() -> End {
        let outcome = progress?.finish() ?? .success([])
        progress = nil
        pending = [:]
        var isIntact = !handle.isBroken
        if case .failure(let error) = outcome, error.spoilsConnection { isIntact = false }
        return End(outcome: outcome, isIntact: isIntact)
    }

    private func lost() -> End { abandon(.connectionLost(PostgresError.clean(handle.message))) }

    private func abandon(_ error: PostgresError) -> End { End(outcome: outcome(endedBy: error), isIntact: false) }
}

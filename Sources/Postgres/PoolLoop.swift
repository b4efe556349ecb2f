// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Threads

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Does the work of the pool's thread: waits for sockets, carries out what ``PoolMachine`` decides, and ends what takes
/// too long.
final class PoolLoop {
    /// The longest sleep of the thread when no deadline is near.
    private static let longestSleep = TimeAmount.seconds(60)
    /// The time for a ROLLBACK; a connection that takes longer is closed.
    private static let rollbackLimit = TimeAmount.seconds(5)

    private let info: ConnectionInfo
    private let settings: PostgresSettings
    private let mailbox: Mailbox
    private let notices: NoticeReceiver
    private let jitter: @Sendable () -> Double
    private var machine: PoolMachine
    /// The jobs that wait for a connection.
    private var jobs: [UInt64: Job] = [:]
    private var connections: [UInt64: PooledConnection] = [:]
    private var lastConnection: UInt64 = 0
    private var isStopping = false

    init(
        _ info: ConnectionInfo, settings: PostgresSettings, mailbox: Mailbox, notices: NoticeReceiver,
        jitter: @escaping @Sendable () -> Double
    ) {
        self.info = info
        self.settings = settings
        self.mailbox = mailbox
        self.notices = notices
        self.jitter = jitter
        machine = PoolMachine(settings)
    }

    /// Runs until it is told to stop and the running transactions are over, which their deadlines ensure.
    func run() {
        while true {
            for command in mailbox.drain() { handle(command) }
            let now = NIODeadline.now()
            carryOut(machine.tick(at: now))
            endOverdue(at: now)
            guard !isStopping || !connections.isEmpty else { break }
            wait()
        }
        for command in mailbox.close() {
            switch command {
            case .run(let job): job.reply.resolve(.failure(PostgresError.closed))
            case .opened(.success(let handle)): handle.close()
            case .opened(.failure), .cancel, .rollBack, .closed, .stop: break
            }
        }
    }

    private func handle(_ command: Mailbox.Command) {
        let now = NIODeadline.now()
        switch command {
        case .run(let job): start(job, at: now)
        case .cancel(let id):
            machine.cancel(job: id)
            jobs[id] = nil
            guard let connection = connections.values.first(where: { $0.job?.id == id }) else { return }
            drop(connection)
        case .rollBack(let id):
            guard let connection = connections[id] else { return }
            rollBack(connection)
        case .opened(.success(let handle)): adopt(handle, at: now)
        case .opened(.failure(let error)): carryOut(machine.failed(error, at: now, jitter: jitter()))
        case .closed(let id): carryOut(machine.remove(id, at: now))
        case .stop:
            isStopping = true
            carryOut(machine.close())
        }
    }

    private func start(_ job: Job, at now: NIODeadline) {
        guard let id = job.connection else {
            jobs[job.id] = job
            return carryOut(machine.request(job: job.id, deadline: job.deadline, at: now))
        }
        guard let connection = connections[id] else {
            let error = job.deadline <= now ? PostgresError.timeout(.call) : .connectionLost("between two statements")
            job.reply.resolve(.failure(error))
            return
        }
        if let end = connection.start(job, at: now) { finish(connection, end) }
    }

    private func carryOut(_ actions: [PoolMachine.Action]) {
        for action in actions {
            switch action {
            case .open: open()
            case .assign(let id, let connectionID):
                guard let job = jobs.removeValue(forKey: id), let connection = connections[connectionID] else {
                    preconditionFailure("the pool has assigned a job or a connection that does not exist")
                }
                if let end = connection.start(job, at: .now()) { finish(connection, end) }
            case .fail(let id, let error): jobs.removeValue(forKey: id)?.reply.resolve(.failure(error))
            case .close(let id): connections.removeValue(forKey: id)?.handle.close()
            }
        }
    }

    /// Sleeps until a socket is ready, a command comes or a deadline is near; then lets the connections proceed.
    private func wait() {
        let order = Array(connections.values)
        var descriptors = [pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)] + order.map(\.interest)
        let now = NIODeadline.now()
        let wake = (order.map(\.deadline) + [machine.wake]).compactMap { $0 }.min() ?? now + Self.longestSleep
        let left = max(.nanoseconds(0), min(wake - now, Self.longestSleep))
        // Rounded up: a sleep that ended just before the deadline would only lead to another one.
        poll(&descriptors, nfds_t(descriptors.count), CInt(clamping: (left.nanoseconds + 999_999) / 1_000_000))
        for (connection, descriptor) in zip(order, descriptors.dropFirst()) where descriptor.revents != 0 {
            // An earlier connection's end may have led to the end of this one.
            guard connections[connection.id] != nil, let end = connection.proceed() else { continue }
            finish(connection, end)
        }
    }
}

// The life of a connection.
extension PoolLoop {
    private func open() {
        let thread = DedicatedThread.start { [info, mailbox, timeout = settings.connectTimeout] in
            let result = ConnectionHandle.open(info, timeout: timeout)
            guard !mailbox.post(.opened(result)), case .success(let handle) = result else { return }
            handle.close()
        }
        thread?.detach()
        if thread == nil { mailbox.post(.opened(.failure(.system("no thread could be started")))) }
    }

    private func adopt(_ handle: ConnectionHandle, at now: NIODeadline) {
        handle.report(to: notices)
        lastConnection += 1
        connections[lastConnection] = PooledConnection(id: lastConnection, handle: handle, settings: settings)
        carryOut(machine.opened(lastConnection, at: now))
    }

    /// Reports the end of a job, and decides what becomes of its connection.
    private func finish(_ connection: PooledConnection, _ end: PooledConnection.End) {
        let job = connection.job
        guard end.isIntact else {
            // Reported first: closing may be followed by another job's start.
            job?.reply.resolve(end.outcome.map { .init(connection: 0, results: $0) }.mapError { $0 })
            return drop(connection)
        }
        guard let job else { return release(connection) }
        switch end.outcome {
        case .success(let results) where job.commits:
            release(connection)
            job.reply.resolve(.success(.init(connection: 0, results: results)))
        case .success(let results):
            connection.hold(until: job.deadline)
            // A caller that was cancelled at the last moment does not take the connection.
            let isTaken = job.reply.resolve(.success(.init(connection: connection.id, results: results)))
            if !isTaken { rollBack(connection) }
        case .failure(let error):
            job.reply.resolve(.failure(error))
            connection.isOutsideTransaction ? release(connection) : rollBack(connection)
        }
    }

    private func release(_ connection: PooledConnection) {
        connection.rest()
        carryOut(machine.release(connection.id))
    }

    private func rollBack(_ connection: PooledConnection) {
        if let end = connection.rollBack(until: .now() + Self.rollbackLimit) { finish(connection, end) }
    }

    /// Ends the jobs and transactions whose time is over.
    private func endOverdue(at now: NIODeadline) {
        for connection in Array(connections.values) {
            guard let deadline = connection.deadline, deadline <= now else { continue }
            let outcome = connection.outcome(endedBy: .timeout(.call))
            connection.job?.reply.resolve(outcome.map { .init(connection: 0, results: $0) }.mapError { $0 })
            drop(connection)
        }
    }

    /// Closes a connection; if the server is still at work, it is told to stop, on a thread that may wait for it.
    private func drop(_ connection: PooledConnection) {
        connections[connection.id] = nil
        let (id, handle) = (connection.id, connection.handle)
        if handle.isAtWork {
            let thread = DedicatedThread.start { [mailbox] in
                handle.cancelAndClose()
                mailbox.post(.closed(connection: id))
            }
            // Without a thread to spare the server finds out by itself.
            if let thread { return thread.detach() }
        }
        handle.close()
        carryOut(machine.remove(id, at: .now()))
    }
}

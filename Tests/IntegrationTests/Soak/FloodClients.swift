// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// What a hostile or poor client does on its connections, one after the other.
struct FloodBehaviour: Sendable {
    /// What is counted together.
    var name: String
    /// How many such clients there are.
    var count: Int
    /// What the how many-th client sends first on its how many-th connection; nothing is an idle connection.
    var opening: @Sendable (_ client: Int, _ attempt: Int) -> [UInt8] = { _, _ in [] }
    /// What is sent as the how many-th piece after that, and how often; nil sends nothing more.
    var drip: (bytes: @Sendable (_ piece: Int) -> [UInt8], every: TimeAmount)?
    /// How much of an answer is taken at a time, and how often; nil reads what comes.
    var reading: (bytes: Int, every: TimeAmount)?
    /// Whether the client ends its connection after an answer's first bytes.
    var leavesAfterAnswer = false
    /// How long it waits before it comes again.
    var pause = TimeAmount.seconds(2)
}

/// Many clients of such behaviours at once, on one thread.
final class FloodClients: Sendable {
    private struct State {
        var isStopped = false
        var channels: [ObjectIdentifier: any Channel] = [:]
        var counts: [String: Int] = [:]
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let port: Int
    private let state = NIOLockedValueBox(State())

    init(port: Int) { self.port = port }

    /// What has happened how often, in words.
    var summary: String {
        state.withLockedValue(\.counts).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            .joined(separator: ", ")
    }

    /// How often something has happened.
    func count(_ name: String) -> Int { state.withLockedValue { $0.counts[name, default: 0] } }

    /// Lets clients loose; they come back until ``stop()``.
    func start(_ behaviour: FloodBehaviour) {
        for client in 0..<behaviour.count { connect(behaviour, client, attempt: 0) }
    }

    /// Ends all connections.
    func stop() async throws {
        let channels = state.withLockedValue { state in
            state.isStopped = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.close(promise: nil) }
        try await group.shutdownGracefully()
    }

    fileprivate func note(_ name: String) { state.withLockedValue { $0.counts[name, default: 0] += 1 } }

    private func connect(_ behaviour: FloodBehaviour, _ client: Int, attempt: Int) {
        guard !state.withLockedValue(\.isStopped) else { return }
        var bootstrap = ClientBootstrap(group: group).connectTimeout(.seconds(30))
        if let reading = behaviour.reading {
            // What the system buffers for it must not make a slow reader a fast one.
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: 16 << 10)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: reading.bytes))
                .channelOption(.maxMessagesPerRead, value: 1)
                .channelOption(.autoRead, value: false)
        }
        bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(FloodHandler(behaviour, client, attempt, self))
            }
        }.connect(host: "127.0.0.1", port: port).whenComplete { result in
            switch result {
            case .failure:
                self.note("\(behaviour.name) not connected")
                self.comeAgain(behaviour, client, attempt)
            case .success(let channel):
                self.note("\(behaviour.name) connected")
                self.state.withLockedValue { $0.channels[ObjectIdentifier(channel)] = channel }
                channel.closeFuture.whenComplete { _ in
                    self.state.withLockedValue { $0.channels[ObjectIdentifier(channel)] = nil }
                    self.comeAgain(behaviour, client, attempt)
                }
            }
        }
    }

    private func comeAgain(_ behaviour: FloodBehaviour, _ client: Int, _ attempt: Int) {
        guard !state.withLockedValue(\.isStopped) else { return }
        group.next().scheduleTask(in: behaviour.pause) { self.connect(behaviour, client, attempt: attempt + 1) }
    }
}

/// One connection of such a client.
private final class FloodHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let behaviour: FloodBehaviour
    private let client: Int
    private let attempt: Int
    private let clients: FloodClients
    private var hasAnswer = false
    private var tasks: [RepeatedTask] = []

    init(_ behaviour: FloodBehaviour, _ client: Int, _ attempt: Int, _ clients: FloodClients) {
        self.behaviour = behaviour
        self.client = client
        self.attempt = attempt
        self.clients = clients
    }

    func channelActive(context: ChannelHandlerContext) {
        let opening = behaviour.opening(client, attempt)
        if !opening.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: opening)), promise: nil) }
        let channel = context.channel
        if let drip = behaviour.drip {
            let pieces = NIOLockedValueBox(0)
            tasks.append(
                context.eventLoop.scheduleRepeatedTask(initialDelay: drip.every, delay: drip.every) { _ in
                    let piece = pieces.withLockedValue { count in
                        defer { count += 1 }
                        return count
                    }
                    channel.writeAndFlush(ByteBuffer(bytes: drip.bytes(piece)), promise: nil)
                })
        }
        if let reading = behaviour.reading {
            tasks.append(
                context.eventLoop.scheduleRepeatedTask(initialDelay: reading.every, delay: reading.every) { _ in
                    channel.read()
                })
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasAnswer else { return }
        hasAnswer = true
        let bytes = unwrapInboundIn(data).readableBytesView.dropFirst(9).prefix(3)
        let status = String(decoding: bytes, as: UTF8.self)
        clients.note("\(behaviour.name) answered \(status)")
        if behaviour.leavesAfterAnswer || status != "200" { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        for task in tasks { task.cancel() }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

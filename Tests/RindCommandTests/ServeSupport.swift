// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import DemoBackend
import Foundation
import HTTPTypes
import NIOCore

/// A `rind serve` of the quickstart's configuration, or another one, before a demo backend, in a directory of its own.
struct ServedGateway {
    let command: RunningCommand
    let port: Int
    let directory: URL

    /// Starts one, lets the body use it, and ends it whatever happens.
    static func with<R>(
        _ backend: DemoBackend, environment: [String: String] = [:], configuration: String = Place.quickstart,
        _ body: (ServedGateway) async throws -> R
    ) async throws -> R {
        try await Place.withDirectory { directory in
            let url = try await backend.url
            let (command, text) = try await CommandPermits.with {
                let command = try start(
                    in: directory, backend: url, environment: environment, configuration: configuration)
                return (command, await command.errorMatch(#"port"?[=:]"?[0-9]+"#))
            }
            defer { command.signal(SIGKILL) }
            guard let port = text.flatMap({ Int($0.drop { !$0.isNumber }) }) else {
                throw NotStarted(error: command.errorText)
            }
            return try await body(ServedGateway(command: command, port: port, directory: directory))
        }
    }

    /// Starts one with a listener for operators, and passes the clients' one and the operators' one to the body.
    static func withAdmin<R>(
        _ backend: DemoBackend, environment: [String: String] = [:], configuration: String = Place.quickstart,
        _ body: (_ served: ServedGateway, _ operated: ServedGateway) async throws -> R
    ) async throws -> R {
        let variables = environment.merging(["RIND_ADMIN_LISTEN": "127.0.0.1:0"]) { $1 }
        return try await with(backend, environment: variables, configuration: configuration) { gateway in
            func listener(_ name: String) async throws -> ServedGateway {
                let text = await gateway.command.errorMatch("listener=\(name) port=[0-9]+")
                guard let port = text.flatMap({ Int($0.drop { !$0.isNumber }) }) else {
                    throw NotStarted(error: gateway.command.errorText)
                }
                return ServedGateway(command: gateway.command, port: port, directory: gateway.directory)
            }
            return try await body(try await listener("clients"), try await listener("admin"))
        }
    }

    /// Starts one on a free port.
    static func start(
        in directory: URL, backend: String = "http://127.0.0.1:1", environment: [String: String] = [:],
        configuration: String = Place.quickstart
    ) throws -> RunningCommand {
        var variables = ["RIND_GATEWAY_LISTEN": "127.0.0.1:0", "RIND_BACKEND_URL": backend]
        variables.merge(environment) { $1 }
        return try RunningCommand(
            ["serve", "--config", configuration], environment: variables, directory: directory)
    }

    struct NotStarted: Error {
        let error: String
    }

    /// The status and the body of a GET.
    func get(_ path: String, token: String? = nil) async throws -> (status: Int, body: String) {
        try await send(CurlRequest(url: "http://127.0.0.1:\(port)\(path)"), token)
    }

    /// The status and the body of a POST of JSON.
    func post(_ path: String, _ body: String, token: String) async throws -> (status: Int, body: String) {
        var request = CurlRequest(method: .post, url: "http://127.0.0.1:\(port)\(path)")
        request.fields[.contentType] = "application/json"
        request.body = .bytes(ByteBuffer(string: body))
        return try await send(request, token)
    }

    private func send(_ request: CurlRequest, _ token: String?) async throws -> (status: Int, body: String) {
        let reactor = try CurlReactor.start()
        var request = request
        if let token { request.fields[.authorization] = "Bearer \(token)" }
        let result: Result<(Int, String), any Error>
        do {
            let response = try await reactor.execute(request)
            let body = try await response.body.collect(upTo: 1 << 26)
            result = .success((response.status.code, String(buffer: body)))
        } catch {
            result = .failure(error)
        }
        await reactor.shutdown()
        return try result.get()
    }
}

// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import Gateway
import GatewayConfig
import HTTPTypes
import JSONBytes
import Logging
import SyncModel

/// Asks a backend everything that the configuration has and that changes nothing, to see whether it is the right one.
struct BackendCheck {
    private let configuration: Configuration
    /// The credential; empty for a stranger.
    private let fields: HTTPFields
    private let scope: SyncScope
    private let client: BackendClient

    /// Creates a check with these header fields, for a sync of this scope.
    init(_ configuration: Configuration, fields: HTTPFields, scope: SyncScope, reactor: CurlReactor) {
        self.configuration = configuration
        self.fields = fields
        self.scope = scope
        // A check prints its findings; it has no log.
        var logger = Logger(label: "rind.backend")
        logger.logLevel = .critical
        client = BackendClient(
            settings: configuration.backendSettings, transport: reactor, clock: SystemClock(), logger: logger)
    }

    /// Makes the calls, one after the other.
    func run() async -> [CheckFinding] {
        let url = configuration.backend.url
        let sent = sent
        let dropped = fields.map(\.name.rawName).filter { HTTPField.Name($0).map { sent.fields[$0] == nil } ?? true }
        if let name = dropped.first {
            return [
                CheckFinding(
                    .wrong, "\(url): the field '\(name)' of '--header' is not sent on to the backend",
                    hint: "[wire] token_header or [backend] forward_headers")
            ]
        }
        let isSignedIn = PrincipalNaming(configuration).hasCredential(in: sent.fields)
        var findings: [CheckFinding] = []
        if isSignedIn, let finding = caller(sent.fields) { findings.append(finding) }
        var turnedAway: [(checked: CheckedCall, status: Int)] = []
        let verdict = BackendVerdict(configuration: configuration, isSignedIn: isSignedIn)
        for checked in CheckedCall.all(in: configuration, isSignedIn: isSignedIn) {
            do throws(BackendError) {
                switch verdict.judge(checked, try await ask(checked, sent)) {
                case .turnedAway(let status): turnedAway.append((checked, status))
                case .found(let found): findings += found
                }
            } catch {
                findings.append(CheckFinding(.wrong, "\(url): \(error) (\(error.code))", hint: Self.hint(error)))
                // Nothing else would come through, either, and each try may take its time.
                return findings
            }
        }
        if !turnedAway.isEmpty { findings += await stranger(turnedAway) }
        // What is wrong already would only be found again.
        guard isSignedIn, findings.allSatisfy(\.verdict.isPassed) else { return findings }
        findings += await BackendProbes(configuration, client: client, sent, fields: fields).run()
        return findings
    }

    /// Tries the backend's checklist, with a second credential if there is one; everything else should be right before.
    func checklist(writes: Bool, second: HTTPFields?) async -> ChecklistResults {
        var account: SecondAccount?
        if let second {
            let session = ChecklistSession(configuration, client: client, credentials(of: second), isSecond: true)
            let callers = (await principal(of: fields), await principal(of: second))
            // If it is not known whether they are one user, the points of two users will say so.
            account = callers.0 != nil && callers.0 == callers.1 ? .session(session) : .user(session)
        }
        var run = ChecklistRun(
            configuration, settings: client.settings, ChecklistSession(configuration, client: client, sent),
            second: account)
        return await run.run(writes: writes)
    }

    private var sent: ForwardedCredentials { credentials(of: fields) }

    private func credentials(of fields: HTTPFields) -> ForwardedCredentials {
        configuration.forwardingRule.credentials(of: fields, isPeerTrusted: true).with(scope: scope)
    }

    /// Returns the principal of a credential; nil if it is not known here.
    private func principal(of fields: HTTPFields) async -> Principal? {
        let naming = PrincipalNaming(configuration)
        guard case .backend(let method, let target, let path) = configuration.identity.principal else {
            return naming.principal(of: fields)
        }
        let call = Call(method: method, target: [.text(target)])
        let answer = try? await client.probe(call, credentials(of: fields))
        let value = answer.flatMap { try? JSONValue.parse($0.body) }?.value(at: path)
        return value.flatMap(IdentityName.of).flatMap(naming.principal(ofUser:))
    }

    private func ask(
        _ checked: CheckedCall, _ credentials: ForwardedCredentials
    ) async throws(BackendError) -> ProbedAnswer {
        switch checked.kind {
        case .stream(let types): try await client.probeStream(types: types, credentials)
        case .acknowledgement: try await client.probeAcknowledgement(credentials)
        case .caller, .list, .neighbour: try await client.probe(checked.call, credentials)
        }
    }

    /// Returns the caller's principal, if the credential itself contains it.
    private func caller(_ fields: HTTPFields) -> CheckFinding? {
        let naming = PrincipalNaming(configuration)
        switch naming.source {
        case .backend: return nil
        case .jwt: return CheckFinding(.note, "the token says who the caller is; its signature is not checked here")
        case .header, .cookie, .bearer: break
        }
        guard let principal = naming.principal(of: fields) else {
            return CheckFinding(
                .wrong, "'--header' has no credential where [identity] principal looks for it",
                hint: "'bearer' is the field Authorization or one of [wire] token_header, 'cookie:NAME' that cookie, "
                    + "'header:NAME' that field")
        }
        return CheckFinding(.ok, "the credential says who the caller is: principal \(principal)")
    }

    /// Judges a backend that refuses strangers: a server that refuses every request shows nothing, and a path whose
    /// made-up sibling is answered alike is not confirmed.
    private func stranger(_ turnedAway: [(checked: CheckedCall, status: Int)]) async -> [CheckFinding] {
        let other = CheckedCall.madeUp(client.settings)
        let answer = try? await client.probe(other.call, .none)
        guard let answer, Self.isOfRouting(answer.status) else {
            let status = answer.map { "with \($0.status) " } ?? ""
            let url = configuration.backend.url
            return [
                CheckFinding(
                    .unsure, "\(url) turns strangers away \(status)wherever they ask, also at \(other.address)",
                    hint: "so nothing shows that it is the backend: sign in with --header")
            ]
        }
        var addresses: [String] = []
        var findings: [CheckFinding] = []
        for (checked, status) in turnedAway {
            let sibling = checked.sibling(client.settings)
            let answer = try? await client.probe(sibling.call, .none)
            if let answer, Self.isOfRouting(answer.status) {
                addresses.append("\(checked.address) (\(status))")
                continue
            }
            let said = answer.map { "status \($0.status)" } ?? "no answer"
            findings.append(
                CheckFinding(
                    .unsure, "\(checked.address): status \(status); the made-up \(sibling.address): \(said)",
                    hint: "so nothing shows that the path of \(checked.key) is right: sign in with --header"))
        }
        guard !addresses.isEmpty else { return findings }
        let text = "turns strangers away at \(addresses.joined(separator: ", ")); --header signs in and really asks"
        return [CheckFinding(.ok, text)] + findings
    }

    /// Returns true if a made-up path was answered by a server that tells paths apart, and not by a login in front of
    /// it.
    private static func isOfRouting(_ status: Int) -> Bool { ![401, 403, 429].contains(status) && status < 500 }

    /// Returns where to look if no answer came; nil for other errors.
    static func hint(_ error: BackendError) -> String? {
        switch error {
        case .transport(.tls): "[backend] url (https or http?), [backend] ca_file"
        case .transport: "[backend] url (host, port, https or http?); does the backend run?"
        default: nil
        }
    }
}

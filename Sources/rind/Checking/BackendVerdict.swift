// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Gateway
import GatewayConfig
import JSONBytes
import SyncModel

/// Judges whether an answer is the configured backend's; what is not plainly its answer is not ok.
struct BackendVerdict {
    /// The verdict on an answer.
    enum Outcome {
        /// A stranger was turned away with this status, as backends do it.
        case turnedAway(status: Int)
        case found([CheckFinding])
    }

    let configuration: Configuration
    /// True if the calls carried a credential.
    let isSignedIn: Bool

    /// Judges the answer to a call.
    func judge(_ checked: CheckedCall, _ answer: ProbedAnswer) -> Outcome {
        let status = answer.status
        let isTurnedAway = status == 401 || status == 403
        if isTurnedAway, !isSignedIn {
            guard answer.isPage else { return .turnedAway(status: status) }
            return .found([
                CheckFinding(
                    .unsure, "\(checked.address): status \(status), a page of HTML",
                    hint: "servers before the API and others answer so, too: sign in with --header")
            ])
        }
        if case .acknowledgement = checked.kind, let finding = acknowledgement(checked, answer) {
            return .found([finding])
        }
        if (200..<300).contains(status), !answer.isPage { return .found(success(checked, answer)) }
        if case .neighbour = checked.kind, (400..<500).contains(status), !isTurnedAway {
            return .found([neighbour(checked, status)])
        }
        let (text, hint) = fault(checked, answer)
        // Busy is no fault of the configuration, and shows nothing of it either.
        let verdict: CheckFinding.Verdict = [429, 503].contains(status) ? .unsure : .wrong
        return .found([CheckFinding(verdict, "\(checked.address): status \(status)\(text)", hint: hint)])
    }

    /// Returns the text after the status in the line, and the advice.
    private func fault(_ checked: CheckedCall, _ answer: ProbedAnswer) -> (text: String, hint: String) {
        switch answer.status {
        case 300..<400:
            let target = answer.location.map { " to \($0.shown(upTo: 200))" } ?? ""
            return (", a redirection\(target)", "none is followed: put the address into [backend] url")
        case 401, 403:
            let page = answer.isPage ? " The answer is a page of HTML: does [backend] url lead to the API?" : ""
            return (
                ", the credential is not accepted", "is the token of '--header' valid, and its scheme right?\(page)"
            )
        case 429, 503: return (", the backend is busy", "try again")
        case 500...: return (", the backend failed", "look at the backend's log")
        default: break
        }
        if answer.isPage {
            return (", a page of HTML", "[backend] url must lead to the API, not to pages for browsers")
        }
        // An error says nothing of the account's records.
        let message = answer.message.map { ": '\($0.shown(upTo: 200))'" } ?? ""
        if case .stream(let types) = checked.kind, answer.status == 400 {
            let named = answer.names(of: types)
            if !named.isEmpty {
                return (", and its answer names \(named.joined(separator: ", "))\(message)", "'request' of the tables")
            }
            return (message, "'request' of the tables (\(types.joined(separator: ", "))), \(checked.key)")
        }
        return (message, "\(checked.key), or [backend] url if other calls are wrong, too")
    }

    /// Judges the answer to a list without tokens; nil where it is not plainly from the call that sets checkpoints.
    private func acknowledgement(_ checked: CheckedCall, _ answer: ProbedAnswer) -> CheckFinding? {
        guard !answer.isPage else { return nil }
        switch answer.status {
        case 200..<300: return CheckFinding(.ok, "\(checked.address): takes a list without tokens (\(answer.status))")
        case 400, 409, 422:
            return CheckFinding(.ok, "\(checked.address): refuses a list without tokens (\(answer.status))")
        case 500:
            return CheckFinding(
                .note, "\(checked.address): status 500 to a list without tokens",
                hint: "there is something for \(checked.key); some backends fail at an empty list")
        default: return nil
        }
    }

    /// Judges a `GET` where another call goes.
    ///
    /// Many servers answer 404, some with a page, to a method that a path does not have. With a credential, the other
    /// calls have confirmed the backend, and no more can be seen.
    private func neighbour(_ checked: CheckedCall, _ status: Int) -> CheckFinding {
        guard status == 404 else {
            return CheckFinding(.ok, "\(checked.address): status \(status), so there is something for \(checked.key)")
        }
        return CheckFinding(
            isSignedIn ? .note : .unsure, "\(checked.address): status 404",
            hint: "\(checked.key) goes there and was not tried, since it changes something: is the path right?")
    }

    /// Judges an answer with a status of success, which no stranger must get from a path with a user's data.
    private func success(_ checked: CheckedCall, _ answer: ProbedAnswer) -> [CheckFinding] {
        let findings = content(checked, answer)
        guard !isSignedIn, findings.first?.verdict != .wrong else { return findings }
        switch checked.kind {
        case .list, .stream:
            return [
                CheckFinding(
                    .wrong, "\(checked.address): answers without a credential",
                    hint:
                        "everybody could read it: does the backend ask for a login there? \(checked.key), [backend] url"
                )
            ]
        case .caller, .acknowledgement, .neighbour: return findings
        }
    }

    /// Judges the content of an answer with a status of success.
    private func content(_ checked: CheckedCall, _ answer: ProbedAnswer) -> [CheckFinding] {
        switch checked.kind {
        case .neighbour:
            return [checked.finding(.ok, "status \(answer.status), so there is something for \(checked.key)")]
        case .stream:
            if let type = answer.contentType, !BackendClient.mayBeLines(type) {
                return [
                    checked.finding(.wrong, "the stream is of the type \(type.shown(upTo: 100))", hint: checked.key)
                ]
            }
            let beginning = StreamBeginning(answer.body, isWhole: answer.isWhole, configuration)
            return lines(beginning, of: answer, to: checked)
        case .caller, .list, .acknowledgement: return [object(checked, answer)]
        }
    }

    /// Judges an answer that has to be JSON.
    private func object(_ checked: CheckedCall, _ answer: ProbedAnswer) -> CheckFinding {
        guard let json = try? JSONValue.parse(answer.body) else {
            let type = answer.contentType.map { ", but \($0.shown(upTo: 100))" } ?? ""
            return checked.finding(
                .wrong, "status \(answer.status), and no JSON\(type)", hint: "\(checked.key), [backend] url")
        }
        if case .caller(let path) = checked.kind { return caller(json, at: path, of: checked) }
        do throws(BackendError) {
            let count = try configuration.backendSettings.vector(in: json).namespaces.count
            return checked.finding(.ok, "lists \(count) \(count == 1 ? "checkpoint" : "checkpoints")")
        } catch {
            return checked.finding(.wrong, "\(error)", hint: "\(checked.key), [backend] type_field, ack_field")
        }
    }

    private func caller(_ json: JSONValue, at path: Path, of checked: CheckedCall) -> CheckFinding {
        let value = json.value(at: path)
        guard let id = value.flatMap(IdentityName.of) else {
            if let value {
                return checked.finding(
                    .wrong, "what is at '\(path)' is neither a text of 1 to 255 bytes nor an integer: \(value.kind)",
                    hint: "[identity] principal: look for what names a user for good")
            }
            let names = (json.members ?? []).prefix(12).map { $0.name.shown(upTo: 40) }.joined(separator: ", ")
            let hint = names.isEmpty ? "the answer is no object with members" : "the answer has the members \(names)"
            return checked.finding(.wrong, "nothing at '\(path)'", hint: "[identity] principal: \(hint)")
        }
        guard isSignedIn else {
            return checked.finding(
                .wrong, "says at '\(path)' who the caller is, without a credential",
                hint: "every stranger would be the same user: does [identity] principal ask for the caller?")
        }
        let principal = PrincipalNaming(configuration).principal(ofUser: id)
        return checked.finding(.ok, "says at '\(path)' who the caller is: principal \(principal?.description ?? "")")
    }

    private func lines(
        _ beginning: StreamBeginning, of answer: ProbedAnswer, to checked: CheckedCall
    ) -> [CheckFinding] {
        if let fault = fault(of: beginning, of: answer, to: checked) { return [fault] }
        let types = beginning.types.isEmpty ? "" : " of \(beginning.types.joined(separator: ", "))"
        return [checked.finding(.ok, "streams lines\(types)")]
            + beginning.remarks.compactMap { $0.finding(at: checked.address) }
    }

    /// Returns what makes a stream unusable as a whole; nil if nothing does.
    private func fault(
        of beginning: StreamBeginning, of answer: ProbedAnswer, to checked: CheckedCall
    ) -> CheckFinding? {
        let complete = configuration.backend.completeType
        if let fault = beginning.fault {
            return checked.finding(
                .wrong, "the stream's \(fault)", hint: "[backend] stream; docs/BACKEND-PROTOCOL.md shows the lines")
        }
        if answer.isBroken {
            return checked.finding(
                .wrong, "the stream breaks off after \(SampleFindings.lines(beginning.count))",
                hint: "the connection was closed in the middle: look at the backend's log")
        }
        if answer.isWhole, !beginning.hasEnd {
            return checked.finding(
                .wrong, "the stream ends without the line '\(complete)'",
                hint: "[backend] complete_type, [backend] stream")
        }
        guard beginning.count > 0 else {
            return checked.finding(
                .unsure, "no line of the stream came within 5 s", hint: "try again, and look at the backend's log")
        }
        if beginning.types.isEmpty, let quarantined = beginning.quarantined {
            return checked.finding(
                .wrong, "all \(quarantined.count) lines of records would be quarantined (\(quarantined.reason))",
                hint: "'rind check --sample' shows why")
        }
        if beginning.types.isEmpty, !beginning.unknown.isEmpty {
            return checked.finding(
                .wrong, "no table takes any line: \(beginning.unknown.joined(separator: ", "))",
                hint: "'upsert' and 'delete' of the tables, [backend] complete_type, reset_type, ack_types")
        }
        return nil
    }
}

extension CheckedCall {
    /// Says what was found about the call.
    fileprivate func finding(_ verdict: CheckFinding.Verdict, _ text: String, hint: String? = nil) -> CheckFinding {
        CheckFinding(verdict, "\(address): \(text)", hint: hint)
    }
}

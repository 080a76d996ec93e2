import HTTPTypes
import JSONPath
import PipelineCore

extension ComputeStage {
    func preview(in scope: PreviewScope) async -> StagePreview {
        var preview = StagePreview()
        if let submit {
            preview.requests.append(await requests.preview(submit, as: "submit", in: scope))
            preview.once = requests.settlement(of: submit, in: scope)
        }
        for poll in polls { preview.requests.append(await requests.preview(poll.request, as: "poll", in: scope)) }
        if endsByCallback { preview.waits = "for a callback" }
        if isMonitored {
            let monitor = RequestDefinition(.get, URLTemplate(captured: "‹Location of the answer›"))
            preview.requests.append(await requests.preview(monitor, as: "poll", in: scope))
        }
        if let cancelRequest {
            preview.requests.append(await requests.preview(cancelRequest, as: "cancel", in: scope))
        }
        return preview
    }
}

extension RequestStage {
    func preview(in scope: PreviewScope) async -> StagePreview {
        let isSubmit = !definition.isIdempotent && paginate == nil
        let purpose = paginate == nil ? "request" : "page"
        return StagePreview(
            requests: [await requests.preview(definition, as: purpose, in: scope)],
            once: isSubmit ? requests.settlement(of: definition, in: scope) : nil,
            writes: to?.describe(in: scope.known))
    }
}

extension DownloadStage {
    func preview(in scope: PreviewScope) async -> StagePreview {
        StagePreview(
            requests: [await requests.preview(definition, as: "download", in: scope)],
            once: definition.isIdempotent
                ? nil : "sent again, and the service may do the work, and charge for it, once more",
            writes: to.describe(in: scope.known))
    }
}

extension WriteStage {
    func preview(in scope: PreviewScope) async -> StagePreview {
        StagePreview(writes: to.describe(in: scope.known))
    }
}

extension WaitStage {
    func preview(in scope: PreviewScope) async -> StagePreview {
        let duration = length.map {
            $0.constant.map(DurationText.describe) ?? $0.template?.describe(in: scope.known) ?? ""
        }
        return StagePreview(waits: duration ?? "until \(until?.describe(in: scope.known) ?? "")")
    }
}

extension CallbackStage {
    func preview(in scope: PreviewScope) async -> StagePreview { StagePreview(waits: "for a push") }
}

extension UploadStage {
    func preview(in scope: PreviewScope) async -> StagePreview {
        let sender = requests.requests
        let content = "‹file \(file.describe(in: scope.known))›"
        let definition = requests.definition
        var preview = StagePreview()
        func add(_ request: RequestDefinition, _ purpose: String, body: JSON? = nil) async {
            var shown = await sender.preview(request, as: purpose, in: scope)
            shown.body = body ?? shown.body
            preview.requests.append(shown)
        }
        switch mode {
        case .put, .auto, .s3: await add(definition, "upload", body: .string(content))
        case .multipart:
            var fields = requests.fields?.describe(in: scope.known).object ?? [:]
            fields[requests.fileField.describe(in: scope.known)] = .string(content)
            await add(definition, "upload", body: .object(fields))
            preview.requests[0].headers.removeAll { $0.name.lowercased() == "content-type" }
            preview.requests[0].headers.append(("Content-Type", StageRequests.formType))
        case .gcs where definition.method == .put: await add(definition, "upload", body: .string(content))
        case .tus where definition.method == .patch: await add(definition, "upload", body: .string(content))
        case .parts where parts?.creates == false: break
        case .resumable, .tus, .gcs, .parts: await add(definition, "create")
        }
        if mode.goesOnAtOffset, !preview.requests.contains(where: { $0.purpose == "upload" }) {
            var append = RequestDefinition(mode == .gcs ? .put : .patch, URLTemplate(captured: "‹URL of the upload›"))
            append.headers = ValueTable()
            await add(append, "append", body: .string(content))
        }
        for (request, purpose) in [
            (parts?.part, "part"), (parts?.ask?.request, "ask"), (parts?.complete, "complete"),
            (parts?.cancel, "cancel"),
        ] {
            if let request { await add(request, purpose) }
        }
        let submit = definition.once == nil ? parts?.complete : definition
        if let submit, submit.once != nil { preview.once = sender.settlement(of: submit, in: scope) }
        if preview.once == nil, mode == .put || mode == .multipart {
            preview.once =
                definition.isIdempotent
                ? "it is sent again whole, which replaces the first"
                : "it is sent again whole, and the service may then have two; \"once\" says how to find out"
        }
        if preview.once == nil, mode == .parts, parts?.complete == nil {
            preview.once =
                "a file whose last part may have been taken is sent again once its upload is gone, and the service may "
                + "then have two; \"once\" says how to find out"
        }
        return preview
    }
}

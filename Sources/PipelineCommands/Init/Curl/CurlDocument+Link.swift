extension CurlDocument {
    /// The stages of a job whose file goes to a link that the first command asks for, as `curl -T` in the second one sends
    /// it; what follows is the poll, or the submit and what belongs to it.
    mutating func linkStages(_ commands: [CurlInvocation], _ targets: [CurlTarget]) -> [String] {
        let asked = members(of: commands[0], targets[0], isOrder: true)
        let link = stage(
            "link", "request", targets[0],
            [
                "\"request\": { \(asked) }",
                "// guess: where the response has the link that the file goes to, and the id of what is made of it",
                "\"capture\": { \"url\": \"$.url\", \"id\": \"$.id\" }",
            ])
        let file = inputs.file(commands[1].uploads ?? "")
        let sent = members(of: commands[1], targets[1], path: "${{ stages.link.url }}", hasBody: false)
        let upload = stage(
            "upload", "upload", targets[1],
            ["\"file\": \"\(file)\", \"protocol\": \"put\"", "\"request\": { \(sent) }"])
        guard commands.count > 2 else { return [link, upload] }
        if commands[2].isOrder {
            remarks.append("guess: the job is about the file of stage 'upload'; write where the submit names it")
            return [link, upload] + jobStages(commands[2...], Array(targets[2...]))
        }
        let path = targets[2].path(replacingID: "${{ stages.link.id }}", nil)
        let isLast = commands.count == 3
        let status = poll(
            commands[2], targets[2], path: path, isFound: false,
            givesLink: !isLast && !targets[3].contains(id: targets[2].idSegment))
        let job = stage(
            "job", "compute", targets[2], ["// once the file is there", "\"needs\": [\"upload\"]"] + status)
        if isLast { return [link, upload, job] }
        return [link, upload, job, download(commands[3], targets[3], after: "job", idOf: nil)]
    }
}

extension CurlDocument {
    /// The stages of a job whose file goes to a link that the first command asks for, as `curl -T` in the second one sends
    /// it. What follows is the submit, the poll and the download, of which each may be missing.
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
        var stages = [link, upload]
        guard commands.count > 2 else { return stages }
        if commands[2].isOrder || commands[2].method != "GET" {
            remarks.append("guess: the job is about the file of stage 'upload'; write where the submit names it")
            let jobs = jobStages(commands[2...], Array(targets[2...]))
            return stages + [needing("upload", jobs[0])] + jobs.dropFirst()
        }
        let id = targets[2].idSegment
        let isKnown = commands.count == 4 && targets[3].contains(id: id)
        if commands.count == 4 || commands[2].output == nil {
            let lines = poll(
                commands[2], targets[2], path: targets[2].path(replacingID: "${{ stages.link.id }}"), isFound: false,
                givesLink: commands.count == 4 && !isKnown)
            stages.append(needing("upload", stage("job", "compute", targets[2], lines)))
        } else {
            stages.append(needing("upload", download(commands[2], targets[2], after: "link", idOf: id)))
        }
        guard commands.count == 4 else { return stages }
        let last = download(commands[3], targets[3], after: isKnown ? "link" : "job", idOf: isKnown ? id : nil)
        return stages + [needing("job", last)]
    }
}

import Foundation

/// A page of the documentation as somebody follows it: files to write, and commands to type with what they print.
///
/// A line that ends in "`NAME`:" names the file in the block below it. In a block marked `console` each line that
/// begins with `$ ` is typed, and what stands below it is printed; `…` stands for what differs from run to run, alone on
/// a line for any number of lines. Ids and times may differ in any case.
struct GuidePage {
    enum Step {
        case file(name: String, content: String)
        /// `answer` are the numbers of the lines that show what it prints.
        case command(String, answer: Range<Int>)
    }

    let path: String
    private(set) var lines: [String]
    private(set) var steps: [Step] = []
    /// Pieces of JSON that belong to no file of their own.
    private(set) var fragments: [String] = []

    init(path: String) throws {
        self.path = path
        lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
        var number = 0
        while number < lines.count {
            guard lines[number].hasPrefix("```"), lines[number].count > 3 else {
                number += 1
                continue
            }
            let end = lines[(number + 1)...].firstIndex(of: "```") ?? lines.count
            read(number + 1..<end, language: String(lines[number].dropFirst(3)))
            number = end + 1
        }
    }

    /// What a page of the catalogue is called there.
    init(named name: String) throws {
        try self.init(path: "\(ExampleTests.root.path)/Sources/PipelineKit/PipelineKit.docc/\(name).md")
    }

    var files: [String: String] {
        var files: [String: String] = [:]
        for case .file(let name, let content) in steps { files[name] = content }
        return files
    }

    private mutating func read(_ block: Range<Int>, language: String) {
        if language == "console" { return readCommands(block) }
        let content = lines[block].joined(separator: "\n") + "\n"
        let above = lines[..<(block.lowerBound - 1)].last { !$0.isEmpty } ?? ""
        if let name = above.firstMatch(of: /`([A-Za-z0-9._\/-]+\.[a-z]+)`[^`]*:$/)?.output.1 {
            steps.append(.file(name: String(name), content: content))
        } else if language == "json" {
            fragments.append(content)
        }
    }

    private mutating func readCommands(_ block: Range<Int>) {
        var number = block.lowerBound
        while number < block.upperBound {
            guard lines[number].hasPrefix("$ ") else {
                number += 1
                continue
            }
            var command = String(lines[number].dropFirst(2))
            while command.hasSuffix("\\"), number + 1 < block.upperBound {
                number += 1
                command += "\n" + lines[number]
            }
            let next = lines[(number + 1)..<block.upperBound].firstIndex { $0.hasPrefix("$ ") } ?? block.upperBound
            steps.append(.command(command, answer: number + 1..<next))
            number = next
        }
    }

    /// The page with other answers: by the line numbers of the old ones.
    func answering(_ answers: [(old: Range<Int>, new: [String])]) -> String {
        var lines = lines
        for answer in answers.reversed() { lines.replaceSubrange(answer.old, with: answer.new) }
        return lines.joined(separator: "\n")
    }
}

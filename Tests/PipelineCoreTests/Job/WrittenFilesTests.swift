import Testing

@testable import PipelineCore

/// The files of a job, of which many are written again.
@Suite("Written files") struct WrittenFilesTests {
    @Test("each path once, in the order in which they were written last; at a cost that does not grow")
    func order() {
        var files = WrittenFiles([])
        var expected: [String] = []
        for number in 0..<5_000 {
            let path = "/out/\(number * 7 % 100)"
            files.add(WrittenFile(path: path, bytes: Int64(number), sha256: nil, step: nil))
            if number < 600 {
                expected.removeAll { $0 == path }
                expected.append(path)
                #expect(files.all.map(\.path) == expected && files.last(at: path)?.bytes == Int64(number))
            }
        }
        #expect(files.all.count == 100 && files.all.last?.bytes == 4_999)
        let read = WrittenFiles(files.all)
        #expect(read.last(at: "/out/0") == files.last(at: "/out/0") && read.last(at: "/none") == nil)
    }
}

import Foundation
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

@testable import PipelineDashboard

/// What the buttons of a batch's page download.
@Suite("The results of a batch, downloaded", .timeLimit(.minutes(1)))
struct BatchResultsTests {
    /// The table had the columns alone that every batch has, and looked whole.
    @Test("as CSV have the results that the document names, as JSON Lines do")
    func columns() async throws {
        let world = try await DashboardWorld()
        do {
            let batch = try await SampleJobs(world).make().batch
            let cookie = try await world.signIn()
            let table = try await world.get("/batches/\(batch)/results.csv", cookie: cookie)
            #expect(table.status == 200 && table.shows("item,state,files,cost,seconds,error,words"))
            #expect(table.body.firstMatch(of: #/clip-\d+\.mov,succeeded,,0\.12,[0-9.]+,,120/#) != nil)
            let lines = try await world.get("/batches/\(batch)/results.json", cookie: cookie)
            #expect(lines.status == 200 && lines.shows(#""words":120"#))
        } catch {
            await world.close()
            throw error
        }
        await world.close()
    }

    /// It ended as a whole one does.
    @Test("end without the mark of the end when the rest can't be read", arguments: [true, false])
    func cut(isCut: Bool) async throws {
        let listener = try await DashboardListener.start(at: try ListenAddress(parsing: "127.0.0.1:0")) { _ in
            let (parts, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
            continuation.yield(Array("item,state".utf8))
            continuation.finish(throwing: isCut ? StepFailure("the journal is gone") : nil)
            return (DashboardResponse(type: "text/csv", body: .stream(parts)), true)
        }
        let text: String
        do {
            let connection = try RawConnection(port: listener.port)
            connection.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            text = await connection.rest()
        } catch {
            await listener.stop()
            throw error
        }
        await listener.stop()
        #expect(text.lowercased().contains("transfer-encoding: chunked") && text.contains("item,state"), "\(text)")
        #expect(text.hasSuffix("\r\n0\r\n\r\n") == !isCut, "\(text)")
    }
}

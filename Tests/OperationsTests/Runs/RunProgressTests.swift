import Files
import Foundation
import Operations
import SystemPackage
import TestSupport
import Testing

@Suite("The progress of another run")
struct RunProgressTests {
    @Test("The progress of a run is in percent until the run ends")
    func percent() throws {
        let sandbox = try Sandbox()
        let (directory, own) = (sandbox.path("state/progress"), LockHolder(process: getpid()))
        #expect(RunProgress(of: own, in: directory) == nil)
        let progress = RunProgress(stage: .uploading, done: 430, total: 1000)
        progress.write(to: directory)
        #expect(RunProgress(of: own, in: directory) == progress)
        #expect(progress.text == "uploading, 43 %")
        #expect(RunProgress(stage: .reading, done: 9, total: 3).text == "reading, 100 %")
        #expect(RunProgress(stage: .reading, done: 9, total: nil).text == "reading")
        RunProgress.remove(from: directory)
        #expect(RunProgress(of: own, in: directory) == nil)
    }

    @Test("A progress file of something else says nothing")
    func hostile() throws {
        let sandbox = try Sandbox()
        for text in ["", "{}", #"{"stage": "\u001b[2J", "done": 1, "total": 2}"#] {
            try sandbox.write(text, to: "7.json")
            #expect(RunProgress(of: LockHolder(process: 7), in: sandbox.path) == nil)
        }
    }
}

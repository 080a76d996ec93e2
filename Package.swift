// swift-tools-version: 6.2
import PackageDescription

// A newer compiler's new warnings must not stop a user's build; they stop ours.
let isChecked = Context.environment["CI"] != nil
let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (isChecked ? [.treatAllWarnings(as: .error)] : [])

// What `pipeline --version` says; only in releases, so that a commit rebuilds nothing while one works.
let commit: [CSetting] =
    Context.gitInformation.map { information in
        let mark = information.hasUncommittedChanges ? "_changed" : ""
        return [
            .define("PIPELINE_COMMIT", to: information.currentCommit.prefix(12) + mark, .when(configuration: .release))
        ]
    } ?? []

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let structuredFields = Target.Dependency.product(
    name: "RawStructuredFieldValues", package: "swift-http-structured-headers")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let package = Package(
    name: "pipeline",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "JSONPath", targets: ["JSONPath"]),
        .library(name: "Assertions", targets: ["Assertions"]),
        .library(name: "PipelineHTTP", targets: ["PipelineHTTP"]),
        .library(name: "PipelineKit", targets: ["PipelineKit"]),
        .library(name: "PipelineCommands", targets: ["PipelineCommands"]),
        .library(name: "PipelineDaemon", targets: ["PipelineDaemon"]),
        .library(name: "JournalConformance", targets: ["JournalConformance"]),
        .executable(name: "pipeline", targets: ["pipeline"]),
        .executable(name: "pipeline-daemon", targets: ["pipeline-daemon"]),
        .executable(name: "selfie-studio", targets: ["selfie-studio"]),
        // Loaded into a program under test, linked by nothing.
        .library(name: "PowerLoss", type: .dynamic, targets: ["CPowerLoss"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", exact: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2", traits: []),
    ],
    targets: [
        // The flow, from the document to the wire and back.
        .target(name: "JSONPath", swiftSettings: settings),
        // What should never happen, reported: the one module that all others may use.
        .target(name: "Assertions", swiftSettings: settings),
        // The C library of the platform under one name.
        .target(name: "CLibrary", swiftSettings: settings),
        // How bytes, dates, durations and URLs are written, for modules that must not know each other.
        .target(name: "Encodings", swiftSettings: settings),
        // Random numbers that a seed fixes: for simulations, tests and measurements.
        .target(name: "SeededNumbers", dependencies: ["CLibrary"], swiftSettings: settings),
        .target(name: "PipelineCore", dependencies: ["CLibrary", "Encodings", "JSONPath"], swiftSettings: settings),
        .target(
            name: "PipelineEngine", dependencies: ["Assertions", "PipelineCore", "JSONPath", heap],
            swiftSettings: settings),
        .target(
            name: "PipelineStages",
            dependencies: [
                "CLibrary", "CArchive", "CChecksum", "CFiles", "COpenSSL", "Encodings", "PipelineCore", "PipelineHTTP",
                "NetworkTasks",
                "JSONPath", crypto, httpTypes, structuredFields, subprocess, system,
            ],
            swiftSettings: settings),
        .target(
            name: "PipelineHTTP",
            dependencies: [
                "CLibrary", "CBase64", "CCurl", "CZlib", "Encodings", "NetworkTasks", crypto, cryptoExtras, httpTypes,
            ],
            swiftSettings: settings),
        .target(name: "NetworkTasks", swiftSettings: settings),
        .target(
            name: "PipelineJournal",
            dependencies: [
                "CLibrary", "Assertions", "CSQLite", "PipelineSQL", "PipelineSQLite", "PipelinePostgres",
                "PipelineCore",
                "PipelineHTTP", "JSONPath",
            ],
            swiftSettings: settings),
        .target(name: "PipelineSQL", swiftSettings: settings),
        .target(name: "PipelineSQLite", dependencies: ["CSQLite", "PipelineSQL"], swiftSettings: settings),
        .target(
            name: "PipelinePostgres",
            dependencies: ["CLateLibrary", "CLibrary", "Assertions", "Encodings", "PipelineSQL"],
            swiftSettings: settings),
        .target(name: "CBase64"),
        .target(name: "CChecksum"),
        .target(name: "CFiles"),
        // Of libcurl, OpenSSL and libarchive what is called is found when it is called first (apt: libcurl4-openssl-dev,
        // libssl-dev and libarchive-dev have what is compiled with).
        .target(name: "CLateLibrary"),
        .target(name: "CCurl", dependencies: ["CLateLibrary"]),
        .target(name: "COpenSSL", dependencies: ["CLateLibrary"]),
        .target(name: "CArchive", dependencies: ["CLateLibrary"]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // Spans for a collector, from the journal.
        .target(
            name: "PipelineTraces", dependencies: ["PipelineCore", "PipelineHTTP", "JSONPath", httpTypes],
            swiftSettings: settings),
        .target(
            name: "PipelineNotifier",
            dependencies: [
                "CLibrary", "CCurl", "PipelineCore", "PipelineHTTP", "JSONPath", httpTypes, subprocess, system,
            ],
            swiftSettings: settings),

        // Whole jobs in virtual time: for tests, and for 'pipeline test'.
        .target(
            name: "PipelineSimulation",
            dependencies: [
                "CLibrary", "PipelineCore", "PipelineHTTP", "NetworkTasks", "JSONPath", "SeededNumbers", heap,
                httpTypes,
            ],
            swiftSettings: settings),

        // Put together.
        .target(name: "CBuild", cSettings: commit),
        .target(name: "CMemory"),
        .target(name: "CTexts"),
        .target(
            name: "PipelineKit",
            dependencies: [
                "CLibrary", "Assertions", "CBuild", "CMemory", "PipelineCore", "PipelineEngine", "PipelineStages",
                "PipelineJournal",
                "PipelineHTTP", "PipelineNotifier", "PipelineTraces", "JSONPath", crypto, httpTypes, subprocess, system,
            ],
            swiftSettings: settings),
        .target(
            name: "PipelineServer",
            dependencies: [
                "CLibrary", "PipelineKit", "PipelineCore", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        // What people look at.
        .target(name: "CAssets", exclude: ["Assets"]),
        .target(
            name: "PipelinePictures", dependencies: ["CLibrary", "CAssets", "PipelineCore", "PipelineKit"],
            swiftSettings: settings),
        .target(
            name: "PipelineDashboard",
            dependencies: [
                "CLibrary", "Assertions", "CAssets", "PipelinePictures", "PipelineServer", "PipelineKit",
                "PipelineCore",
                "PipelineEngine",
                "JSONPath", subprocess, system, .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .target(
            name: "PipelineCommands",
            dependencies: [
                "CLibrary", "Assertions", "CTexts", "PipelineKit", "PipelineCore", "PipelineEngine", "PipelineHTTP",
                "PipelineJournal", "PipelineStages", "PipelinePictures", "PipelineSimulation", "JSONPath",
                argumentParser, httpTypes,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "pipeline", dependencies: ["PipelineCommands"],
            exclude: ["Monitoring", "Plugins", "Schemas", "Units"],
            swiftSettings: settings
        ),
        // Metrics as a page, for whichever server gives it out.
        .target(
            name: "PipelineMetrics", dependencies: ["CLibrary", "PipelineKit", "PipelineCore"], swiftSettings: settings),
        .target(
            name: "PipelineDaemon",
            dependencies: [
                "CLibrary", "Assertions", "PipelineDashboard", "PipelineMetrics", "PipelineServer", "PipelineKit",
                "PipelineCore",
                "PipelineEngine", "JSONPath", crypto, argumentParser, .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .executableTarget(name: "pipeline-daemon", dependencies: ["PipelineDaemon"], swiftSettings: settings),
        // Stages of one's own, and the two programs that know them: what the guides show.
        // Without the access that a package has to itself: they see what others see.
        .target(
            name: "ExampleStages", dependencies: ["PipelineKit", httpTypes], packageAccess: false,
            swiftSettings: settings),
        .executableTarget(
            name: "example-pipeline", dependencies: ["ExampleStages", "PipelineCommands"], packageAccess: false,
            swiftSettings: settings),
        .executableTarget(
            name: "example-pipeline-daemon", dependencies: ["ExampleStages", "PipelineDaemon"], packageAccess: false,
            swiftSettings: settings),
        // A journal of one's own, and a program that tries it and runs jobs over it.
        .target(
            name: "ExampleJournal", dependencies: ["PipelineKit"], packageAccess: false, swiftSettings: settings),
        .executableTarget(
            name: "example-journal", dependencies: ["ExampleJournal", "JournalConformance", "PipelineKit"],
            packageAccess: false, swiftSettings: settings),

        // A program with the network stack alone.
        .executableTarget(
            name: "example-network", dependencies: ["PipelineHTTP"], packageAccess: false, swiftSettings: settings),

        // The demonstration service.
        .target(
            name: "SelfieStudio",
            dependencies: [
                "CLibrary", "CZlib", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOResumableUpload", package: "swift-nio-extras"), httpTypes, crypto, argumentParser,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "selfie-studio", dependencies: ["SelfieStudio", argumentParser], swiftSettings: settings),

        // Measurements.
        .executableTarget(
            name: "pipeline-bench",
            dependencies: [
                "CLibrary", "CSpawn", "JournalCopies", "PipelineKit", "PipelineCore", "PipelineEngine", "PipelineHTTP",
                "PipelineJournal", "PipelineSQLite", "PipelineStages", "NetworkTasks", "JSONPath", "SeededNumbers",
                argumentParser, httpTypes,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings),

        // Tests.
        .testTarget(name: "EncodingsTests", dependencies: ["Encodings"], swiftSettings: settings),
        // Journals of many jobs, made from those of a few.
        .target(name: "JournalCopies", dependencies: ["PipelineSQLite"], swiftSettings: settings),
        // The promises of a journal, for tests of any.
        .target(name: "JournalConformance", dependencies: ["PipelineCore", "JSONPath"], swiftSettings: settings),
        .target(name: "CSpawn"),
        .target(name: "CPowerLoss"),
        .target(
            name: "PipelineTestKit",
            dependencies: [
                "CLibrary", "CSpawn", "PipelineSimulation", "PipelineCore", "PipelineHTTP", "NetworkTasks", "JSONPath",
                httpTypes,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ArchitectureTests", dependencies: ["pipeline", "pipeline-daemon", "example-network"],
            exclude: ["surface.txt"], swiftSettings: settings),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "PipelineCommands", "PipelineKit", "PipelineEngine", "PipelineJournal", "PipelineCore",
                "PipelineStages", "PipelineTestKit", "JSONPath", "SelfieStudio", "pipeline", "pipeline-daemon",
                "example-pipeline", "example-pipeline-daemon", "example-journal", "example-network",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "CLibrary", "PipelineCore", "PipelineSQLite", "PipelineTestKit", "SeededNumbers", "SelfieStudio",
                "JSONPath", "pipeline", "pipeline-daemon", "selfie-studio", crypto, httpTypes,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MessageTests",
            dependencies: ["PipelineTestKit", "JSONPath", "pipeline", "pipeline-daemon", "selfie-studio"],
            exclude: ["Cases", "helpers"], swiftSettings: settings),
        .testTarget(
            name: "TerminalTests", dependencies: ["PipelineTestKit", "JSONPath", "pipeline", "selfie-studio"],
            swiftSettings: settings),
        .testTarget(name: "JSONPathTests", dependencies: ["JSONPath", "SeededNumbers"], swiftSettings: settings),
        .testTarget(
            name: "PipelineCoreTests", dependencies: ["PipelineCore", "JSONPath", "SeededNumbers"],
            exclude: ["Invalid", "Valid"], swiftSettings: settings),
        .testTarget(
            name: "PipelineEngineTests",
            dependencies: ["PipelineEngine", "PipelineCore", "PipelineTestKit", "JSONPath"], swiftSettings: settings),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "PipelineKit", "PipelineEngine", "PipelineCore", "PipelineHTTP", "PipelineStages", "PipelineTestKit",
                "JSONPath",
                httpTypes,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineHTTPTests",
            dependencies: [
                "CLibrary", "CCurl", "CZlib", "NetworkTasks", "PipelineHTTP", "PipelineTestKit", "SeededNumbers",
                crypto, cryptoExtras, httpTypes,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineStagesTests",
            dependencies: [
                "CLibrary", "PipelineStages", "PipelineCore", "PipelineHTTP", "PipelineTestKit", "NetworkTasks",
                "JSONPath", "CArchive", "CZlib", "SeededNumbers", httpTypes, crypto,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineNotifierTests",
            dependencies: [
                "PipelineNotifier", "PipelineCore", "PipelineHTTP", "PipelineTestKit", "JSONPath", httpTypes, crypto,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineJournalTests",
            dependencies: [
                "CLibrary", "PipelineJournal", "PipelinePostgres", "PipelineSQLite", "PipelineTestKit",
                "JournalConformance", "PipelineCore", "PipelineHTTP", "JSONPath", "SeededNumbers",
            ],
            exclude: ["Fixtures"], swiftSettings: settings),
        .testTarget(
            name: "PipelineSQLiteTests", dependencies: ["CLibrary", "CSQLite", "PipelineSQL", "PipelineSQLite"],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineCommandsTests",
            dependencies: ["PipelineCommands", "PipelineKit", "PipelineCore", "JSONPath", "PipelineTestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineDaemonTests",
            dependencies: [
                "PipelineDaemon", "PipelineMetrics", "PipelineServer", "PipelineKit", "PipelineCore", "PipelineTestKit",
                "JSONPath", crypto,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineDashboardTests",
            dependencies: [
                "Assertions", "JournalCopies", "PipelineDashboard", "PipelineMetrics", "PipelineJournal",
                "PipelinePictures", "PipelineServer", "PipelineKit", "PipelineSQLite", "PipelineCore",
                "PipelineTestKit",
                "JSONPath", "SeededNumbers", "pipeline", "pipeline-daemon",
            ],
            exclude: ["browser.py"], swiftSettings: settings),
        .testTarget(
            name: "SelfieStudioTests",
            dependencies: ["SelfieStudio", "PipelineTestKit", "CZlib", crypto, argumentParser],
            swiftSettings: settings),
    ]
)

// The tests of one target need neither all others nor the programs that those start (.scripts/simulate).
if let only = Context.environment["ONLY_TESTS"] {
    package.targets.removeAll { $0.type == .test && $0.name != only }
}

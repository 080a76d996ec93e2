// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "pipeline",
    products: [
        .library(name: "JSONPath", targets: ["JSONPath"]),
    ],
    targets: [
        .target(name: "JSONPath", swiftSettings: settings),
        .target(name: "PipelineCore", dependencies: ["JSONPath"], swiftSettings: settings),
        .target(name: "PipelineEngine", dependencies: ["PipelineCore", "JSONPath"], swiftSettings: settings),
    ]
)

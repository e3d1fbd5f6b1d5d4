// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Targets without busy loops are built for their size.
let small = strict + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// Test targets are not optimized in any build: they would take half of its time, and wait for what they test.
let testing = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

let filePath: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

let package = Package(
    name: "grocerydude",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "grocerydude", targets: ["grocerydude"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    ],
    targets: [
        // The system's C libraries.
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .systemLibrary(
            name: "CLibzip",
            pkgConfig: "libzip",
            providers: [.apt(["libzip-dev"]), .brew(["libzip"])]
        ),
        .systemLibrary(
            name: "CIsal",
            pkgConfig: "libisal",
            providers: [.apt(["libisal-dev"]), .brew(["isa-l"])]
        ),
        .systemLibrary(
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .target(name: "CFiles"),
        .target(name: "CXXHash"),
        // Loads libfuse when it is needed, and is built without it.
        .target(
            name: "CFuse",
            linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]
        ),
        .target(name: "CStores", dependencies: ["CSQLite"]),

        // The arrow: see scripts/lint.sh.
        .target(
            name: "Files",
            dependencies: [
                "CFiles", filePath, .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Processes",
            dependencies: [
                "Files", filePath, .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Stores",
            dependencies: [
                "Files", "CSQLite", "CStores", filePath,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "History",
            dependencies: ["Files", filePath, .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict
        ),
        .target(
            name: "Sample",
            dependencies: [
                "Files", "CSQLite", filePath, .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .target(name: "Changes", dependencies: ["Files"], swiftSettings: strict),
        .target(
            name: "Age",
            dependencies: [
                "Files", filePath, .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Archives",
            dependencies: ["Age", "Files", "CLibzip", "CIsal", "CZlib", "CXXHash", filePath],
            swiftSettings: strict
        ),
        .target(
            name: "Remotes",
            dependencies: ["Processes", "Files", filePath],
            swiftSettings: strict
        ),
        .target(
            name: "Mounts",
            dependencies: ["CFuse", "Files", filePath],
            swiftSettings: strict
        ),
        .target(
            name: "Backups",
            dependencies: ["Stores", "Archives", "Remotes", "History", "Age", "Files", filePath],
            swiftSettings: strict
        ),
        .target(
            name: "Sync",
            dependencies: [
                "Stores", "Archives", "Remotes", "Changes", "Files", "CSQLite", filePath,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Operations",
            dependencies: [
                "Backups", "Sync", "Stores", "Archives", "Remotes", "Changes", "History", "Age",
                "Mounts", "Processes", "Files", filePath,
            ],
            swiftSettings: small
        ),
        .executableTarget(
            name: "grocerydude",
            dependencies: [
                "Operations", "Backups", "Sync", "Stores", "Archives", "Remotes", "Changes",
                "History", "Sample", "Age", "Processes", "Files", filePath,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: small
        ),

        // Tests: one target for each module, what they share, and a second process.
        .target(
            name: "TestSupport",
            dependencies: ["Files", "Remotes", filePath],
            path: "Tests/TestSupport",
            swiftSettings: testing
        ),
        .executableTarget(
            name: "StoreWriter",
            dependencies: ["CSQLite"],
            path: "Tests/StoreWriter",
            swiftSettings: testing
        ),
        // Lets another program's system calls fail, or kills it at one.
        .executableTarget(name: "FaultInjector", path: "Tests/FaultInjector"),
        .testTarget(
            name: "StoresTests",
            dependencies: [
                "Stores", "Files", "TestSupport", "StoreWriter", "CSQLite", filePath,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "HistoryTests",
            dependencies: ["History", "Files", "TestSupport", filePath],
            swiftSettings: testing
        ),
        .testTarget(
            name: "SampleTests",
            dependencies: [
                "Sample", "Files", "TestSupport", filePath,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "FilesTests",
            dependencies: ["Files", "TestSupport", filePath],
            swiftSettings: testing
        ),
        .testTarget(
            name: "ProcessesTests",
            dependencies: ["Processes", "Files", "TestSupport", filePath],
            swiftSettings: testing
        ),
        .testTarget(
            name: "ChangesTests",
            dependencies: ["Changes", "Archives", "Files", "TestSupport", "CZlib", filePath],
            swiftSettings: testing
        ),
        .testTarget(
            name: "AgeTests",
            dependencies: ["Age", "Files", "TestSupport", "CZlib", filePath],
            swiftSettings: testing
        ),
        .testTarget(
            name: "ArchivesTests",
            dependencies: ["Archives", "Files", "TestSupport", "CLibzip", "CZlib", filePath],
            swiftSettings: testing
        ),
        .testTarget(
            name: "RemotesTests",
            dependencies: ["Remotes", "Files", "TestSupport", filePath],
            swiftSettings: testing
        ),
        .testTarget(
            name: "MountsTests",
            dependencies: ["Mounts", "Files", "TestSupport", filePath],
            swiftSettings: testing
        ),
        .testTarget(
            name: "BackupsTests",
            dependencies: [
                "Backups", "Archives", "Stores", "Remotes", "Files", "TestSupport", filePath,
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "SyncTests",
            dependencies: [
                "Sync", "Changes", "Stores", "Remotes", "Files", "TestSupport", "CSQLite", filePath,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "OperationsTests",
            dependencies: [
                "Operations", "Backups", "Stores", "Archives", "Remotes", "History", "Sample",
                "Age", "Mounts", "Files", "TestSupport", "StoreWriter", filePath,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "grocerydude", "Operations", "Backups", "Sync", "Archives", "Stores", "Remotes",
                "History", "Sample", "Age", "Files", "TestSupport", "CSQLite", filePath,
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "grocerydude", "FaultInjector", "Files", "TestSupport", "CSQLite", filePath,
            ],
            swiftSettings: testing
        ),
    ]
)

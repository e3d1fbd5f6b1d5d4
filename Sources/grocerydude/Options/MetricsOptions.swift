internal import ArgumentParser

/// Where metrics go.
struct MetricsOptions: ParsableArguments {
    @Option(
        name: .customLong("metrics-file"),
        help: ArgumentHelp(
            "Write metrics of the run to a text file for Prometheus' node exporter.",
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    var flags: [FlagValue?] { [FlagValue("--metrics-file", "metrics_file", file)] }
}

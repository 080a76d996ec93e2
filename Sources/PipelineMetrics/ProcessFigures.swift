import CLibrary
import PipelineKit

/// The process that gives out metrics, by the names that Prometheus' client libraries have for it
/// (https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics); read from proc(5).
enum ProcessFigures {
    static func families() -> [MetricFamily] {
        var families: [MetricFamily] = []
        func add(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Double?) {
            guard let value else { return }
            families.append(MetricFamily(name: name, kind: kind, help: help, samples: [.init(value: value)]))
        }
        // The name of the program may hold spaces; what follows its parenthesis does not.
        let line = FileContent.text("/proc/self/stat") ?? ""
        let fields = line[(line.lastIndex(of: ")") ?? line.startIndex)...].split(separator: " ").map { Double($0) }
        func field(_ number: Int) -> Double? { fields.indices.contains(number - 2) ? fields[number - 2] : nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        add(
            "process_cpu_seconds_total", .counter, "User and system processor time.",
            field(14).flatMap { user in field(15).map { (user + $0) / ticks } })
        add("process_virtual_memory_bytes", .gauge, "Virtual memory.", field(23))
        add(
            "process_resident_memory_bytes", .gauge, "Resident memory.",
            field(24).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) })
        add("process_threads", .gauge, "Threads.", field(20))
        add(
            "process_start_time_seconds", .gauge, "Start of the process since the Unix epoch.",
            field(22).flatMap { start in bootTime.map { $0 + start / ticks } })
        add("process_open_fds", .gauge, "Open file descriptors.", Double(FolderContent.names("/proc/self/fd").count))
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            add("process_max_fds", .gauge, "The most open file descriptors.", Double(limit.rlim_cur))
        }
        return families
    }

    private static var bootTime: Double? {
        let line = FileContent.text("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) }
    }
}

internal import CIsal
internal import CLibzip
internal import CXXHash
internal import CZlib

/// The libraries that read and write archives.
public enum ArchiveLibraries {
    /// The names and versions of the libraries that the program runs with, such as "libzip 1.7.3".
    public static var versions: [String] {
        let (isal, xxHash) = (cisal_version(), cxxhash_version())
        return [
            "libzip \(String(cString: zip_libzip_version()))",
            "zlib \(String(cString: zlibVersion()))",
            isal == 0 ? "no ISA-L" : "ISA-L \(isal >> 16).\(isal >> 8 & 0xff).\(isal & 0xff)",
            "xxHash \(xxHash / 10_000).\(xxHash / 100 % 100).\(xxHash % 100)",
        ]
    }
}

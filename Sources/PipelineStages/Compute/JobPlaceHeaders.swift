/// The headers in which services say where a job that they took may be asked for.
package enum JobPlaceHeaders {
    /// The likelier ones first: beside one of Azure's (Azure REST API guidelines, "Long-running operations") `Location` is the
    /// place of the result.
    package static let names = ["Operation-Location", "Azure-AsyncOperation", "Location", "Content-Location"]
}

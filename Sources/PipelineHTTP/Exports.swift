// Whoever writes a request needs methods and header fields, and the handle of a task; one import gives them all.
@_exported public import Encodings
@_exported public import HTTPTypes
@_exported public import NetworkTasks

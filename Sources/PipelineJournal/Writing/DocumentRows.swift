import JSONPath
import PipelineCore
import PipelineSQL

/// The rows of documents inside the writer's transaction; jobs of one document share its row.
struct DocumentRows<Connection: JournalConnection>: JournalAccess {
    let connection: Connection

    /// The row of the job's document: jobs that started from the same text share it.
    func number(of record: JobRecord) throws(JournalFailure) -> Int64 {
        let values: SQLValues = ["digest": record.digest, "source": record.source]
        let found = try first("SELECT number FROM documents WHERE digest = :digest AND source = :source", values) {
            $0.integer("number")
        }
        if let found { return found }
        return try returnedNumber(
            "INSERT INTO documents (digest, source) VALUES (:digest, :source) RETURNING number", values)
    }

    /// Makes another document a job's, with what its record says of it.
    func adopt(_ record: JobRecord, for job: Int64) throws(JournalFailure) {
        try run(
            """
            UPDATE jobs SET document = :document, source_name = :name, inputs = :inputs, environment = :environment,
                output_folder = :output, document_folder = :folder, overwrites = :overwrites,
                found_secrets = :found_secrets
            WHERE number = :job
            """,
            [
                "job": job, "document": try number(of: record), "name": record.sourceName,
                "inputs": JSON.object(record.inputs), "environment": JSON.object(record.environment),
                "output": record.folders.output, "folder": record.folders.document, "overwrites": record.overwrites,
                "found_secrets": record.beginning.column,
            ])
    }
}

extension JobRows {
    var documents: DocumentRows<Connection> { DocumentRows(connection: connection) }
}

extension JournalAccess {
    /// The column `number` of the row that a statement returns.
    func returnedNumber(_ sql: StaticString, _ values: SQLValues) throws(JournalFailure) -> Int64 {
        guard let number = try first(sql, values, { $0.integer("number") }) else {
            throw .mistake("a statement that returns a row gave none")
        }
        return number
    }
}

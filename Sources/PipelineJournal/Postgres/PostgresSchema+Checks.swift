extension PostgresSchema {
    /// PostgreSQL reads a table's checks from text in each statement that writes to it (`ExecRelCheck`): they took a quarter
    /// of its time. What is written are values of types that hold no others, and what is read is judged again.
    static let withoutChecks = """
        DO $$
            DECLARE found record;
            BEGIN
                FOR found IN SELECT conrelid::regclass AS place, conname FROM pg_constraint
                    WHERE contype = 'c' AND connamespace = '\(name)'::regnamespace AND conrelid <> 0
                LOOP
                    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.place, found.conname);
                END LOOP;
            END
        $$;

        """

    /// A place is free as well once it is known that a submit did not arrive: its next send asks for one again.
    static let refusedPlaces = """
        DROP TRIGGER IF EXISTS computations_refused ON submits;
        CREATE TRIGGER computations_refused AFTER UPDATE OF phase ON submits FOR EACH ROW
            WHEN (old.phase = 'sending' AND new.phase IN ('intent', 'refused')) EXECUTE FUNCTION end_computation();

        """
}

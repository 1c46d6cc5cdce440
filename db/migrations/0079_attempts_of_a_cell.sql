-- Attempts go with their delivery where that is, whatever path the session has that removes it: another cell's, or that of an operator.
-- The function keeps the path on which it was made. Naming the schema of the table in a text that is planned for each row is five times
-- as dear.
-- The version before: has its cell first on the path, and finds the same table.
alter function remove_attempts() set search_path from current;

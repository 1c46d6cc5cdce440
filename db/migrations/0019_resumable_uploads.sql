-- An upload that arrives in pieces (docs/decisions/0115-resumable-uploads.md): its length, its declared type, and the parts that an
-- object store has of it. Null for a file that is complete.
alter table files add column upload jsonb;
-- The end of the lock of the request that is sending bytes.
alter table files add column locked_until timestamptz;

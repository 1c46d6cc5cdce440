-- The mark of the storage that this database is used with (src/kit/instance-storage): a server with another one would take
-- files that the others do not find. Null: none has been marked yet.
alter table instance add column storage_id uuid;

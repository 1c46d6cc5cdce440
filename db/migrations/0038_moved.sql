-- Where this database was moved to (`formloom move`), and since when another one goes on in its place: no service starts on
-- it until somebody says that it stays after all.
alter table instance add column moved_to text, add column moved_at timestamptz,
  add check ((moved_to is null) = (moved_at is null));

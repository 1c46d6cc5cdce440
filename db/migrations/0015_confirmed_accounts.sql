-- A temporary password opens its own change for a day, and then nothing. Null: the person chose theirs.
alter table users add column temporary_until timestamptz;
update users set temporary_until = now() + interval '1 day' where must_change_password;
alter table users drop column must_change_password;

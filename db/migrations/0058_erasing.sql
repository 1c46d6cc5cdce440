-- Erasing a submission everywhere (src/submissions/erase): which submissions a mail tells of, so that it goes with them.
alter table mails add column submission_ids uuid[] not null default '{}';
create index mails_about on mails using gin (submission_ids) where submission_ids <> '{}';

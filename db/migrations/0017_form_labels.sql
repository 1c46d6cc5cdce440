-- The labels by which members organize forms (src/forms/labels.ts). They belong to no version.
alter table forms add column labels text[] not null default '{}';

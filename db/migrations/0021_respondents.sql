-- The person who signed in to answer a form with settings.access = organisation: {"email", "name", "subject"}.
-- A server of the previous version leaves it empty.
alter table submissions add column respondent json;
alter table held_submissions add column respondent json;

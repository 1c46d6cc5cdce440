-- The language in which a form was read when it was answered, as a BCP-47 tag; null where the form names none.
alter table submissions add column language text;
alter table held_submissions add column language text;

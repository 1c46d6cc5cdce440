-- When the visitor verified the address of each email element, by element id (src/submissions/verified.ts).
alter table submissions add column verified json;
alter table held_submissions add column verified json;

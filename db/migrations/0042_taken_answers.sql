-- Answers of completed submissions that others may not give any more, or only so many times (src/submissions/taken): of a
-- question whose answers are unique its digest, of an option with places the option's id. Those in the trash take nothing.
create table taken_answers (
  workspace_id   uuid not null,
  submission_id  uuid not null,
  element_id     text not null,
  value          text not null,
  form_id        uuid not null,
  primary key (workspace_id, submission_id, element_id, value),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade
);
create index taken_answers_by_value on taken_answers (workspace_id, form_id, element_id, value);

-- By which version of a form its taken answers were last written down. Another version may count others.
create table taken_forms (
  workspace_id  uuid not null,
  form_id       uuid not null,
  version       integer not null,
  primary key (workspace_id, form_id),
  foreign key (workspace_id, form_id, version) references form_versions (workspace_id, form_id, version) on delete cascade
);

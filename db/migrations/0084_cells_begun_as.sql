-- Of the instance: what those cells are to be called and where they are to lie, by their ids, for whoever asks what a command that was killed has left.
alter table instance add column cells_begun_as jsonb not null default '{}';

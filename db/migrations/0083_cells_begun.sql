-- Of the instance: the cells on other servers that a command was about to make. What one that is killed there has left says in its comment which
-- it is, and the next one of that name takes it away.
alter table instance add column cells_begun uuid[] not null default '{}';

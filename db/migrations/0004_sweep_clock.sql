-- Of the instance: the clock at the last sweep. A sweep whose clock is more than a day from it deletes nothing
-- (src/kit/sweeps/sweep-clock.ts).
alter table instance add column swept_at timestamptz not null default now();

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertUnclaimedFile, sweepFiles } from '#files/stored-files.ts';
import { newId } from '#kit/clock.ts';
import { readConfig } from '#kit/config.ts';
import { openInstanceVault } from '#kit/instance-key.ts';
import { findClockDoubt, sweepWithTrustedClock } from '#kit/queue/periodic.ts';
import { command } from '#test/command-line.ts';
import { openService, until } from '#test/service.ts';
import { makeForm } from '#test/webhooks/make-webhook.ts';
import type { Diagnosis } from '../cli/run-doctor.ts';
import { findIncidents } from './watch.ts';

const service = await openService();
const { services, environment } = service;
const { database } = services;
await openInstanceVault(database, readConfig(environment));
const dayMs = 86_400_000;
const inDays = (days: number): Date => new Date(Date.now() + days * dayMs);

/** Makes the clock appear `days` ahead of the last sweep. */
const setClockAhead = (days: number) =>
  database.query('update instance set swept_at = now() - make_interval(days => $1)', [days]);

/** Attempts a sweep, and returns whether it ran. */
const sweeps = async (): Promise<boolean> =>
  (await sweepWithTrustedClock(database, () => Promise.resolve(true))) === true;

test('a clock within a day of the database and of the last sweep is trusted, and the sweep is recorded', async () => {
  await database.query("update instance set swept_at = now() - interval '23 hours'");
  assert.equal(await sweeps(), true);
  const { rows } = await database.query(
    "select swept_at > now() - interval '2 minutes' as is_noted from instance",
  );
  assert.deepEqual(rows, [{ is_noted: true }]);
});

for (const days of [400, 2, -2, -400])
  test(`a clock ${Math.abs(days)} days ${days > 0 ? 'ahead of' : 'behind'} the database's clock deletes nothing; sweeps resume when both agree`, async () => {
    const doubt = await findClockDoubt(database, inDays(days));
    assert.match(doubt!.what, new RegExp(`differs from the database's clock by ${Math.abs(days)} days\\.`));
    assert.match(doubt!.remedy, /NTP/);
    assert.equal(await findClockDoubt(database), undefined);
  });

for (const days of [400, 2, -2, -400])
  test(`if both clocks are ${Math.abs(days)} days ${days > 0 ? 'after' : 'before'} the last sweep, nothing is deleted and the sweep time stays`, async () => {
    await setClockAhead(days);
    assert.equal(await sweeps(), false);
    assert.equal(await sweeps(), false, 'the first look has not moved the note');
    assert.match((await findClockDoubt(database))!.remedy, /sweeps confirm/);
    await setClockAhead(0);
    assert.equal(await sweeps(), true, 'the clock is right again');
  });

test('with a clock that is ahead, the service deletes nothing, `doctor` and incidents report it, and sweeps resume after the operator confirms', async () => {
  await setClockAhead(400);
  const place = await makeForm(database);
  await insertUnclaimedFile(database, {
    workspace_id: place.workspaceId,
    id: newId(),
    form_id: place.formId,
    element: 'file',
    filename: 'a.txt',
    content_type: '',
    upload: null,
    created_at: inDays(-2),
  });
  const countFiles = async () => (await database.query('select from files')).rowCount;
  await sweepWithTrustedClock(database, () => sweepFiles(services));
  assert.equal(await countFiles(), 1);
  const { answer } = await command(environment, 'doctor');
  const { data } = answer as { data: Diagnosis[] };
  const found = data.find(({ check }) => check === 'sweeps')!;
  assert.equal(found.state, 'problem');
  assert.match(found.finding, /400 days after the last sweep/);
  const incidents = await findIncidents(services);
  const keys = incidents.flatMap((each) =>
    each.status === 'fulfilled' ? each.value.map(({ key }) => key) : [],
  );
  assert.ok(keys.includes('sweeps'));
  const confirmed = await command(environment, 'sweeps', 'confirm', '--yes');
  assert.equal(confirmed.code, 0, confirmed.complaint);
  assert.equal(await sweeps(), true);
  await until('the service to sweep', async () => (await countFiles()) === 0, 60);
});

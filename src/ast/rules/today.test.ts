import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMomentLimit, toComparableMoments } from './moments.ts';
import { isTimeZone, todayIn } from './today.ts';

test('today is the current date in the time zone', () => {
  const evening = new Date('2026-01-31T23:30:00Z');
  const days = { UTC: '2026-01-31', 'Europe/Berlin': '2026-02-01', 'America/New_York': '2026-01-31' };
  for (const [zone, day] of Object.entries(days)) assert.equal(todayIn(zone, evening), day, zone);
  assert.equal(todayIn('Pacific/Kiritimati', new Date('2026-12-31T10:00:00Z')), '2027-01-01');
});

test('a time zone is a name of the IANA list, not an offset', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Calcutta'])
    assert.ok(isTimeZone(zone), zone);
  for (const zone of ['', '+01:00', 'Mars/Olympus', 'constructor', ' UTC'])
    assert.ok(!isTimeZone(zone), zone);
});

test('a limit is a value of the format; limits of dates may also be relative to today', () => {
  for (const text of ['2026-01-31', 'today', 'today+30', 'today-18'])
    assert.ok(isMomentLimit('date', text), text);
  for (const text of [
    '2026-02-30',
    'Today',
    'today+',
    'today + 1',
    'today+100000',
    'tomorrow',
    '2026-01-31T10:00',
  ]) {
    assert.ok(!isMomentLimit('date', text), text);
  }
  assert.ok(isMomentLimit('datetime', '2026-01-31T10:00') && isMomentLimit('datetime', 'today+1'));
  assert.ok(isMomentLimit('time', '10:00') && !isMomentLimit('time', 'today'));
});

const aligned: [answer: string, moment: string, pair: [string, string]][] = [
  ['2026-03-02', 'today+30', ['2026-03-02', '2026-03-02']],
  ['2024-02-29', 'today-702', ['2024-02-29', '2024-02-29']],
  ['2026-01-31T23:59', 'today', ['2026-01-31', '2026-01-31']],
  ['2026-01-31T23:59', '2026-01-31T12:00', ['2026-01-31T23:59', '2026-01-31T12:00']],
  ['10:00', '09:30', ['10:00', '09:30']],
];

test('a limit relative to today counts calendar days, and limits a date and time by its date', () => {
  for (const [answer, moment, pair] of aligned) {
    assert.deepEqual(toComparableMoments(answer, moment, '2026-01-31'), pair, `${answer} ${moment}`);
  }
});

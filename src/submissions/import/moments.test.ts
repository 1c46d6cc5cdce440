import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { csvCell } from '#ast/basics/csv.ts';
import { element, formOf } from '#test/ast/forms.ts';
import { cases } from '#test/cases.ts';
import { planImport } from './plan-import.ts';

/*
 * Dates, times and time zones as other services write them: parsed exactly, or rejected with the part at
 * fault.
 */

const form = formOf(
  element('text', 'name', { label: 'Full name' }),
  element('date', 'day', { label: 'Day' }),
  element('time', 'clock', { label: 'Clock' }),
  element('datetime', 'both', { label: 'Both' }),
);
const team = { stages: [], members: [] };
const about = { form, today: '2026-11-28', asksSingly: false, language: 'en', timeZone: 'UTC', ...team };

/** Plans an import of one column of cells, beside a name. */
async function planOf(heading: string, cells: readonly string[], more: object = {}) {
  const lines = cells.map((cell) => `Ada,${csvCell(cell)}`);
  const source = { kind: 'csv', text: [`Full name,${csvCell(heading)}`, ...lines].join('\n') } as const;
  const plan = await planImport(source, { ...about, ...more });
  assert.ok(typeof plan !== 'string', JSON.stringify(plan));
  return plan;
}

/** Returns the time in a cell in UTC, or the problem that leaves its line out. */
async function momentOf(cell: string, more: object = {}, heading = 'Submitted at'): Promise<string> {
  const { entries, problems } = await planOf(heading, [cell], more);
  const [problem] = problems;
  if (problem) return problem.message;
  return new Date(entries[0]!.entry.at!).toISOString();
}

for (const [service, moments] of Object.entries({
  'Google Forms': {
    '2026/11/20 2:01:33 PM GMT+1': '2026-11-20T13:01:33.000Z',
    '2026/11/20 2:01:33 PM GMT-5': '2026-11-20T19:01:33.000Z',
    '2026/11/20 2:01:33 PM GMT+5:30': '2026-11-20T08:31:33.000Z',
    '2026/11/20 12:01:33 AM GMT': '2026-11-20T00:01:33.000Z',
    '2026/11/20 2:01:33 PM MEZ': '2026-11-20T13:01:33.000Z',
    '2026/07/20 2:01:33 PM MESZ': '2026-07-20T12:01:33.000Z',
    '2026/11/20 2:01:33 PM CET': '2026-11-20T13:01:33.000Z',
    '2026/11/20 2:01:33 午後 GMT+9': '2026-11-20T05:01:33.000Z',
    '11/20/2026 14:01:33': '2026-11-20T14:01:33.000Z',
    '20.11.2026 14:01:33': '2026-11-20T14:01:33.000Z',
  },
  Typeform: {
    '2026-11-20 14:01:33': '2026-11-20T14:01:33.000Z',
    '2026-11-20T14:01:33Z': '2026-11-20T14:01:33.000Z',
  },
  SurveyMonkey: {
    '11/20/2026 02:01:33 PM': '2026-11-20T14:01:33.000Z',
    '11/20/26 14:01': '2026-11-20T14:01:00.000Z',
  },
  Jotform: {
    'Nov 20, 2026': '2026-11-20T00:00:00.000Z',
    'Nov 20, 2026 02:01 PM': '2026-11-20T14:01:00.000Z',
  },
  'Microsoft Forms': {
    '46346.58441': '2026-11-20T14:01:33.000Z',
    '11/20/2026 2:01:33 PM': '2026-11-20T14:01:33.000Z',
  },
  'Formloom and programs': {
    '2026-11-20T14:01:33.123Z': '2026-11-20T14:01:33.123Z',
    '2026-11-20T14:01:33,5+01': '2026-11-20T13:01:33.500Z',
    '2026-11-20 14:01:33 +0100': '2026-11-20T13:01:33.000Z',
    '2026-11-20 14:01:33 -0330': '2026-11-20T17:31:33.000Z',
    '2026-11-20 14:01:33 UTC+2': '2026-11-20T12:01:33.000Z',
    '2026-11-20 14:01:33 (UTC+02:00)': '2026-11-20T12:01:33.000Z',
    '2026-11-20T14:01:33+01:00[Europe/Berlin]': '2026-11-20T13:01:33.000Z',
    '2026-11-20 14:01 [America/New_York]': '2026-11-20T19:01:00.000Z',
    '2026-11-20 14:01 Asia/Kolkata': '2026-11-20T08:31:00.000Z',
    '20261120T140133Z': '2026-11-20T14:01:33.000Z',
    'Fri, 20 Nov 2026 14:01:33 +0100': '2026-11-20T13:01:33.000Z',
    'Fri Nov 20 2026 14:01:33 GMT+0100 (Central European Standard Time)': '2026-11-20T13:01:33.000Z',
    'Fri Nov 20 14:01:33 CET 2026': '2026-11-20T13:01:33.000Z',
    'Friday, November 20th, 2026 at 2:01 p.m.': '2026-11-20T14:01:00.000Z',
    '14:01 20 November 2026': '2026-11-20T14:01:00.000Z',
    '20-Nov-2026 14:01:33': '2026-11-20T14:01:33.000Z',
    '2026-11-20 14:01:33−05:00': '2026-11-20T19:01:33.000Z',
    '2026-11-20\u202f2:01\u202fPM': '2026-11-20T14:01:00.000Z',
    '2026年11月20日 14:01': '2026-11-20T14:01:00.000Z',
  },
})) {
  test(`the times that ${service} writes are parsed exactly`, async () => {
    const read = await Promise.all(Object.keys(moments).map(async (cell) => [cell, await momentOf(cell)]));
    assert.deepEqual(Object.fromEntries(read), moments);
  });
}

test('a line with a time that cannot be parsed exactly is left out, and the reason names the part at fault', async () => {
  const reasons = {
    '2026/11/20 2:01:33 PM EST': /time zone "EST"/,
    '2026/11/20 2:01:33 PM PST': /time zone "PST"/,
    '2026/11/20 2:01:33 PM IST': /time zone "IST"/,
    '2026-11-20 14:01:33 Mars/Olympus': /time zone "Mars\/Olympus"/,
    '2026-11-20 14:01:33 +25:00': /time zone "\+25:00"/,
    '2026-11-20 14:01:33 +010': /time zone "\+010"/,
    '2026-11-20 14:01:33 Berlin': /time zone "Berlin"/,
    '2026-11-20T14:01:33+05:00[Europe/Berlin]': /time zones? .*Europe\/Berlin/,
    '2026-03-29 02:30 Europe/Berlin': /clocks were set forward/,
    '2026-10-25 02:30 Europe/Berlin': /twice/,
    '2026-11-20 14:01 33': /"33"/,
    '2026-11-20 14:01:60': /time/,
    '2026-11-20 24:01': /time/,
    '2026-11-20 14:01 PM': /time/,
    '2026-11-20 0:30 PM': /time/,
    '2026-11-31 14:01': /not a valid date/i,
    'Mon, 20 Nov 2026 14:01': /Friday/,
    '2026-11-20 about noon': /"2026-11-20 about noon"/,
    '2026-11-20 14:01 (roughly)': /"roughly"/,
    '20 Brumaire 2026': /"20 Brumaire 2026"/,
    '1795183293': /"1795183293"/,
  };
  for (const [cell, reason] of Object.entries(reasons)) assert.match(await momentOf(cell), reason, cell);
});

test('12 AM is midnight and 12 PM is noon', async () => {
  assert.equal(await momentOf('2026-11-20 12:00 AM'), '2026-11-20T00:00:00.000Z');
  assert.equal(await momentOf('2026-11-20 12:00 PM'), '2026-11-20T12:00:00.000Z');
  assert.equal(await momentOf('2026-11-20 12:59 a.m.'), '2026-11-20T00:59:00.000Z');
  assert.equal(await momentOf('2026-11-20 1:00 P.M.'), '2026-11-20T13:00:00.000Z');
});

test("months and weekdays are recognized in English and in the form's language", async () => {
  const read = (cell: string, language: string) => momentOf(cell, { language });
  assert.equal(await read('Freitag, 20. November 2026 um 14:01', 'de'), '2026-11-20T14:01:00.000Z');
  assert.equal(await read('20 de noviembre de 2026 14:01', 'es'), '2026-11-20T14:01:00.000Z');
  assert.equal(await read('20 févr. 2026 14:01', 'fr'), '2026-02-20T14:01:00.000Z');
  assert.equal(await read('20 Feb 2026 14:01', 'fr'), '2026-02-20T14:01:00.000Z');
  assert.match(await read('20 février 2026 14:01', 'de'), /février/);
});

test("an abbreviated time zone is recognized if the form's time zone uses it at that time", async () => {
  const read = (cell: string, timeZone: string) => momentOf(cell, { timeZone });
  assert.equal(await read('2026/11/20 2:01 PM EST', 'America/New_York'), '2026-11-20T19:01:00.000Z');
  assert.equal(await read('2026/11/20 2:01 PM IST', 'Asia/Kolkata'), '2026-11-20T08:31:00.000Z');
  assert.match(await read('2026/07/20 2:01 PM EST', 'America/New_York'), /time zone "EST"/);
  assert.match(await read('2026/11/20 2:01 PM PST', 'America/New_York'), /time zone "PST"/);
});

test('a time zone in the heading applies to the times of its column without a time zone', async () => {
  const read = (heading: string, cell: string) => momentOf(cell, {}, heading);
  assert.equal(await read('Submit Date (UTC)', '2026-11-20 14:01:33'), '2026-11-20T14:01:33.000Z');
  assert.equal(await read('Timestamp (GMT+1)', '2026-11-20 14:01:33'), '2026-11-20T13:01:33.000Z');
  assert.equal(await read('Timestamp (GMT+1)', '2026-11-20 14:01:33 UTC'), '2026-11-20T14:01:33.000Z');
  assert.match(await read('Submit Date (PST)', '2026-11-20 14:01:33'), /time zone "PST"/);
});

test('answers accept a date, a time or both, and no part of the cell is dropped', async () => {
  const answerOf = async (heading: string, cell: string): Promise<unknown> => {
    const { entries, problems } = await planOf(heading, [cell]);
    return problems[0]?.message ?? entries[0]!.entry.answers[heading.toLowerCase()];
  };
  assert.equal(await answerOf('Day', '31 Jan 2026'), '2026-01-31');
  assert.equal(await answerOf('Day', '2026-01-31 00:00:00'), '2026-01-31');
  assert.equal(await answerOf('Day', '46053'), '2026-01-31');
  assert.equal(await answerOf('Clock', '2:05 PM'), '14:05');
  assert.equal(await answerOf('Clock', '2:05:00 PM'), '14:05');
  assert.equal(await answerOf('Both', '31/01/2026 2:05 pm'), '2026-01-31T14:05');
  assert.equal(await answerOf('Both', '46053.5'), '2026-01-31T12:00');
  assert.match(String(await answerOf('Day', '2026-01-31 14:05')), /a time/);
  assert.match(String(await answerOf('Day', '2026-01-31T00:00:00Z')), /time zone/);
  assert.match(String(await answerOf('Clock', '14:05:33')), /seconds/);
  assert.match(String(await answerOf('Clock', '14:05 GMT+1')), /time zone/);
  assert.match(String(await answerOf('Clock', '2026-01-31 14:05')), /date in the cell/);
  assert.match(String(await answerOf('Both', '2026-01-31 14:05:33')), /seconds/);
  assert.match(String(await answerOf('Both', '2026-01-31 14:05 CET')), /time zone/);
  assert.match(String(await answerOf('Both', '2026-01-31')), /a time/);
});

test("an ambiguous date order is a doubt, with the form's order as the first guess", async () => {
  const read = async (cells: string[], language: string, more: object = {}) => {
    const { entries, doubts } = await planOf('Day', cells, { language, ...more });
    return [entries.map(({ entry }) => entry.answers['day']), doubts.map(({ column }) => column)];
  };
  assert.deepEqual(await read(['03/04/2000'], 'en'), [['2000-03-04'], ['Day']]);
  assert.deepEqual(await read(['03/04/2000'], 'de'), [['2000-04-03'], ['Day']]);
  assert.deepEqual(await read(['03/04/2000'], 'en-GB'), [['2000-04-03'], ['Day']]);
  assert.deepEqual(await read(['03-04-2000'], 'en'), [['2000-03-04'], ['Day']]);
  assert.deepEqual(await read(['03/04/2000', '31/12/2000'], 'en'), [['2000-04-03', '2000-12-31'], []]);
  assert.deepEqual(await read(['03/04/2000', '12/31/2000'], 'de'), [['2000-03-04', '2000-12-31'], []]);
  assert.deepEqual(await read(['03.04.2000'], 'en'), [['2000-04-03'], []]);
  assert.deepEqual(await read(['2000-04-03', '2000/04/03', '04/04/2000'], 'en'), [
    ['2000-04-03', '2000-04-03', '2000-04-04'],
    [],
  ]);
  const both = await planOf('Day', ['03/04/2000', '31/12/2000', '12/31/2000']);
  assert.equal(both.doubts.length, 1, 'two orders in one column');
  assert.equal(both.problems.length, 1);
});

test('each column has its own date order', async () => {
  const text =
    'Full name,Day,Submitted at\nAda,31/01/2026,2/3/2026 14:01\nBea,1/2/2026,2/28/2026 14:01\nCid,2/2/2026,3/3/2026 1:00';
  const plan = await planImport({ kind: 'csv', text }, about);
  assert.ok(typeof plan !== 'string');
  assert.deepEqual(
    plan.entries.map(({ entry }) => [entry.answers['day'], new Date(entry.at!).toISOString()]),
    [
      ['2026-01-31', '2026-02-03T14:01:00.000Z'],
      ['2026-02-01', '2026-02-28T14:01:00.000Z'],
      ['2026-02-02', '2026-03-03T01:00:00.000Z'],
    ],
  );
  assert.deepEqual(plan.doubts, []);
});

test('every time that JavaScript, email and programs write is parsed as that time', async () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Auckland'];
  const written = fc.record({
    time: fc.date({ min: new Date('1971-01-01'), max: new Date('2026-11-01'), noInvalidDate: true }),
    zone: fc.constantFrom(...zones),
    write: fc.constantFrom(...writers),
  });
  await fc.assert(
    fc.asyncProperty(written, async ({ time, zone, write }) => {
      const second = new Date(Math.floor(time.getTime() / 1000) * 1000);
      assert.equal(await momentOf(write(second, zone)), second.toISOString());
    }),
    { numRuns: cases(400) },
  );
});

/** Returns the parts of a time in a time zone, with its offset as `+05:45`. */
function partsIn(time: Date, timeZone: string, locale = 'en-US') {
  const options = {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  } as const;
  const parts = new Intl.DateTimeFormat(locale, options).formatToParts(time);
  const part = (type: string): string => parts.find((each) => each.type === type)!.value;
  const offset = part('timeZoneName').slice(3) || '+00:00';
  const [year, month, day, hour] = [part('year'), part('month'), part('day'), part('hour')];
  return { year, month, day, hour, minute: part('minute'), second: part('second'), offset };
}

const writers: readonly ((time: Date, zone: string) => string)[] = [
  (time) => time.toISOString(),
  (time) => time.toUTCString(),
  (time, zone) => {
    const { year, month, day, hour, minute, second, offset } = partsIn(time, zone);
    return `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}[${zone}]`;
  },
  (time, zone) => {
    const { year, month, day, hour, minute, second, offset } = partsIn(time, zone);
    return `${year}/${month}/${day} ${Number(hour) % 12 || 12}:${minute}:${second} ${Number(hour) < 12 ? 'AM' : 'PM'} GMT${offset}`;
  },
  (time, zone) => {
    const { year, month, day, hour, minute, second, offset } = partsIn(time, zone);
    return `${day}.${month}.${year} ${hour}:${minute}:${second} ${offset.replace(':', '')}`;
  },
];

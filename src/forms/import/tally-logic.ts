import type { Condition } from '#ast/basics/condition.ts';
import { getProperty } from '#ast/basics/json.ts';
import { isTimeZone } from '#ast/rules/today.ts';
import { lineOfHtml } from './html.ts';
import {
  combineConditions,
  createComparisonCondition,
  mapOperators,
  type PlainValue,
} from './imported-conditions.ts';
import { readLocale } from './imported-texts.ts';
import { type FormImportContext, leftOutReasons, readFlaggedLimit } from './importer-table.ts';
import { addJump, type SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';

export type TallyImportContext = FormImportContext & {
  step: SketchNode;
  /** A title that waits for its question. */
  title: SourcePart | undefined;
  /** The blocks of one question, while they are read. */
  run: readonly SourcePart[];
  /** The steps that page breaks begin, with the ids of their blocks. */
  readonly pages: { id: string; step: SketchNode }[];
  readonly rules: { part: SourcePart; step: SketchNode }[];
};

const operators = mapOperators({
  equals: 'IS EQUAL',
  not_equals: 'IS_NOT NOT_EQUAL',
  contains: 'CONTAINS',
  not_contains: 'DOES_NOT_CONTAIN',
  one_of: 'IS_ANY_OF',
  greater_than: 'GREATER_THAN IS_AFTER',
  at_least: 'GREATER_OR_EQUAL_THAN',
  less_than: 'LESS_THAN IS_BEFORE',
  at_most: 'LESS_OR_EQUAL_THAN',
  answered: 'IS_NOT_EMPTY',
  not_answered: 'IS_EMPTY',
});

function readCondition(payload: SourcePart, { named }: TallyImportContext): Condition | undefined {
  const parts = payload.list('conditionals').map((conditional) => {
    conditional.skip('uuid', 'type');
    const part = conditional.part('payload');
    const field = part.part('field');
    field.skip('type', 'questionType', 'title', 'blockGroupUuid');
    const about = named.get(field.text('uuid') ?? '') ?? named.get(field.text('blockGroupUuid') ?? '');
    const is = getProperty(operators, part.text('comparison') ?? '');
    const values = part.list('value').flatMap((each): PlainValue[] => [each.word() ?? []].flat());
    const value = part.flag('value') ?? part.number('value') ?? part.text('value');
    const all = values.length > 0 || value === undefined ? values : [value];
    return about && is && createComparisonCondition(about, is, all);
  });
  return combineConditions(payload.text('logicalOperator') === 'OR' ? 'any' : 'all', parts);
}

/** Reads what a condition does: show, hide or require blocks, or jump to a page. */
export function readRule(
  { part, step }: TallyImportContext['rules'][number],
  reading: TallyImportContext,
): void {
  const payload = part.part('payload');
  const when = readCondition(payload, reading);
  if (!when) return part.leaveOut(leftOutReasons.condition);
  for (const action of payload.list('actions')) {
    action.skip('uuid');
    const [type = '', inside] = [action.text('type'), action.part('payload')];
    const [list, attribute] = getProperty(effects, type) ?? [];
    if (list && attribute) applyTo(inside.list(list), attribute, when, reading);
    else if (type === 'JUMP_TO_PAGE') readJump(inside.part('jumpToPage'), step, when, reading);
    else action.leaveOut('This action is not supported.');
  }
}

const effects: Readonly<Record<string, readonly [list: string, attribute: string]>> = {
  SHOW_BLOCKS: ['showBlocks', 'show_when'],
  HIDE_BLOCKS: ['hideBlocks', 'hide_when'],
  REQUIRE_ANSWER: ['requireAnswer', 'require_when'],
};

function applyTo(
  parts: readonly SourcePart[],
  name: string,
  when: Condition,
  { named }: TallyImportContext,
): void {
  const done = new Set<SketchNode>();
  for (const part of parts) {
    const node = named.get(part.text() ?? '')?.node;
    if (!node) part.leaveOut('This block does not exist.');
    else if (!done.has(node)) {
      const before = node.attrs[name] as Condition | undefined;
      node.attrs[name] = combineConditions('any', before ? [before, when] : [when]);
      done.add(node);
    }
  }
}

function readJump(
  part: SourcePart,
  step: SketchNode,
  when: Condition,
  { sketch, pages }: TallyImportContext,
): void {
  const page = part.word();
  const target = pages.find(({ id }) => id === page) ?? pages[Number(page) - 2];
  if (addJump(sketch, step, target?.step, when) === undefined)
    part.leaveOut('This page does not exist or comes earlier.');
}

/** Reads the redirect, the language, and when or after how many responses the form closes. */
export function readTallySettings(
  part: SourcePart,
  { sketch: { settings }, texts }: TallyImportContext,
): void {
  const address = textIn(part.part('redirectOnCompletion'));
  if (address) settings['redirect_url'] = address;
  readLocale(part.part('language'), settings);
  const most = readFlaggedLimit('submissionsLimit', 'hasSubmissionsLimit')(part);
  if (most !== undefined) settings['max_submissions'] = most;
  if (part.flag('hasCloseDate') === false) part.part('closeDate').leaveOut(leftOutReasons.off);
  else readClosing(part, settings);
  texts.setSetting('closed_message', [part.part('closeMessageTitle'), part.part('closeMessageDescription')]);
  if (part.flag('saveForLater')) settings['save_progress'] = true;
  part.leaveOutIf('isClosed', 'The form is imported as a draft.');
  part.part('password').leaveOut('Set the password again under Settings.');
  const mailed = textIn(part.part('selfEmailTo'));
  if (mailed && part.flag('hasSelfEmailNotifications') !== false) settings['notification_email'] = mailed;
}

/** Returns a text, or HTML without the answers that it includes. */
const textIn = (part: SourcePart): string | undefined =>
  part.text() ??
  (part.part('html').isThere ? lineOfHtml((part.text('html') ?? '').replace(/<[^<>]*>/g, '')) : undefined);

/** Reads when the form closes: a day and a time in a time zone, or a timestamp. */
function readClosing(part: SourcePart, settings: Record<string, unknown>): void {
  const [day, time, zone] = [part.text('closeDate'), part.text('closeTime'), part.text('closeTimezone')];
  if (!day) return;
  const isMoment = /T.*(Z|[+-]\d\d:\d\d)$/.test(day);
  const local = Date.parse(isMoment ? day : `${day.slice(0, 10)}T${(time ?? '00:00').slice(0, 5)}:00Z`);
  if (Number.isNaN(local) || (zone !== undefined && !isTimeZone(zone)))
    return part
      .part('closeDate')
      .leaveOut('This is not a valid date, time or time zone. Correct it under Settings.');
  if (!isMoment && zone === undefined) part.part('closeDate').change('The time is in UTC.');
  if (!isMoment && time === undefined)
    part.part('closeDate').change('The form closes at the start of that day.');
  settings['closes_at'] = new Date(isMoment ? local : local - offsetMs(local, zone ?? 'UTC')).toISOString();
}

/** Returns the offset of a time zone from UTC, in milliseconds, at this local time. */
function offsetMs(local: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const at = (moment: number): number => Date.parse(`${format.format(moment).replace(' ', 'T')}Z`) - moment;
  return at(local - at(local));
}

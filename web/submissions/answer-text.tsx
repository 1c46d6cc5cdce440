import type { ReactElement } from 'react';
import type { AnswerRow, AnswerValue, FileAnswer } from '#ast/answers.ts';
import { isRecord } from '#ast/json.ts';
import { Icon } from '../design/icon.tsx';
import { Marked } from './marked.tsx';

/** Characters of an answer that a cell of the table draws; the rest is in the panel. */
const cellLimit = 240;

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

export const isFile = (value: unknown): value is FileAnswer => isRecord(value) && 'filename' in value && 'content_type' in value;
export const isRow = (value: unknown): value is AnswerRow => isRecord(value) && !isFile(value);

/** An answer that is one text, as people write it. Days and times have no zone: they are shown as they were given. */
export function sayAnswer(value: string | number | boolean, type?: string): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return value.toLocaleString(undefined, { maximumFractionDigits: 20 });
  if (type === 'date') return sayTime(day, value);
  if (type === 'datetime') return sayTime(moment, `${value}Z`);
  return value;
}

function sayTime(format: Intl.DateTimeFormat, iso: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : format.format(time);
}

/** An answer in a cell of the table: one flow of text, in which hits are marked. The value decides how it looks. */
export function AnswerCell({ value, type, hits }: { value: AnswerValue | undefined; type: string; hits: readonly string[] }): ReactElement | null {
  if (value === undefined) return null;
  if (!Array.isArray(value)) return <Marked text={sayAnswer(value, type)} hits={hits} limit={cellLimit} />;
  const items: readonly unknown[] = value;
  if (items.some(isFile)) {
    return (
      <span className="cell-files">
        <Icon name="file" />
        <Marked text={items.filter(isFile).map((file) => file.filename).join(', ')} hits={hits} limit={cellLimit} />
      </span>
    );
  }
  const text = items.every(isRow) ? items.map(sayRow).join(' · ') : items.map(String).join(', ');
  return <Marked text={text} hits={hits} limit={cellLimit} />;
}

const sayRow = (row: AnswerRow): string =>
  Object.values(row)
    .map((value) => (Array.isArray(value) ? (value as readonly unknown[]).map((item) => (isFile(item) ? item.filename : String(item))).join(', ') : sayAnswer(value)))
    .join(', ');

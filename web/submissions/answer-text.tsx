import type { ReactElement } from 'react';
import type { AnswerRow, AnswerValue, FileAnswer } from '#ast/answers.ts';
import { isRecord } from '#ast/json.ts';
import { Icon } from '../design/icon.tsx';
import { Marked } from './marked.tsx';

/** Characters of an answer that a cell of the table draws; the rest is in the panel. */
const cellLimit = 240;

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const moment = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});

export const isFile = (value: unknown): value is FileAnswer =>
  isRecord(value) && ['id', 'filename', 'size', 'content_type'].every((name) => Object.hasOwn(value, name));
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
export function AnswerCell({
  value,
  type,
  hits,
}: {
  value: AnswerValue | undefined;
  type: string;
  hits: readonly string[];
}): ReactElement | null {
  if (value === undefined) return null;
  const text = <Marked text={sayWhole(value, type)} hits={hits} limit={cellLimit} />;
  if (!Array.isArray(value) || !(value as readonly unknown[]).some(isFile)) return text;
  return (
    <span className="cell-files">
      <Icon name="file" />
      {text}
    </span>
  );
}

/** Any answer as one line of text. */
export function sayWhole(value: AnswerValue, type?: string): string {
  if (!Array.isArray(value)) return sayAnswer(value, type);
  const items: readonly unknown[] = value;
  const rows = items.filter(isRow);
  if (rows.length > 0)
    return rows
      .map((row) =>
        Object.values(row)
          .map((cell) => sayWhole(cell))
          .join(', '),
      )
      .join(' · ');
  return items.map((item) => (isFile(item) ? item.filename : String(item))).join(', ');
}

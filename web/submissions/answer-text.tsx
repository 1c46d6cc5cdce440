import type { ReactElement } from 'react';
import type { AnswerRow, AnswerValue, FileAnswer } from '#ast/answers/check-answers.ts';
import { isRecord, own } from '#ast/basics/json.ts';
import { type InputElement, isInput, matrixRowsOf, optionsIn, type Question } from '#ast/form/tree.ts';
import type { ConsentAnswer } from '#ast/types/rules.ts';
import type { Column } from '#submissions/shapes.ts';
import { Icon } from '../design/icon.tsx';
import { Marked } from '../design/marked.tsx';

/** The most characters of an answer in a table cell. The panel shows the rest. */
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

/** Whether a whole answer is a consent. A row of a group can look like one; a matrix cannot. */
export const isConsent = (value: AnswerValue): value is ConsentAnswer =>
  isRecord(value) && value['agreed'] === true && typeof value['text'] === 'string';

/** Describes whether and when consent was given. */
export const sayConsent = ({ at }: ConsentAnswer): string =>
  at === undefined ? 'Agreed' : `Agreed on ${sayTime(moment, at)} (UTC)`;

/** The parts of a question that its answers need for display. */
export type AskedOf = Pick<Column, 'type' | 'option_labels' | 'rows'> & Partial<Pick<Column, 'inputs'>>;

/** Returns the display details of a question from its form. */
export const askedIn = (
  question: Pick<Question, 'element'> & { inputs?: readonly InputElement[] },
): AskedOf => ({
  ...askedOf(question.element),
  inputs: (question.inputs ?? []).map((input) => ({
    ...askedOf(input),
    id: input.attrs.id,
    label: input.attrs.label,
    options: [],
  })),
});

const askedOf = (element: Question['element']): AskedOf => ({
  type: element.type,
  rows: isInput(element) ? matrixRowsOf(element) : [],
  option_labels: Object.fromEntries([...optionsIn(element).values()].map(({ id, label }) => [id, label])),
});

/** Formats an answer that is a single value. Dates and times have no time zone and are shown as given. */
export function sayAnswer(value: string | number | boolean, asked?: AskedOf): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return value.toLocaleString(undefined, { maximumFractionDigits: 20 });
  if (asked?.type === 'date') return sayTime(day, value);
  if (asked?.type === 'datetime') return sayTime(moment, `${value}Z`);
  return (asked && own(asked.option_labels, value)) ?? value;
}

function sayTime(format: Intl.DateTimeFormat, iso: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : format.format(time);
}

/** Shows an answer in a table cell as one text with highlighted hits. The value decides the format. */
export function AnswerCell({
  value,
  asked,
  hits,
}: {
  value: AnswerValue | undefined;
  asked: AskedOf;
  hits: readonly string[];
}): ReactElement | null {
  if (value === undefined) return null;
  const text = <Marked text={sayWhole(value, asked)} hits={hits} limit={cellLimit} />;
  if (!Array.isArray(value) || !(value as readonly unknown[]).some(isFile)) return text;
  return (
    <span className="cell-files">
      <Icon name="file" />
      {text}
    </span>
  );
}

/** Formats any answer as one line of text. */
export function sayWhole(value: AnswerValue, asked?: AskedOf): string {
  if (isConsent(value)) return sayConsent(value);
  if (isRow(value))
    return rowsIn(value, asked)
      .map(({ label, cell }) => `${label}: ${sayWhole(cell, asked)}`)
      .join(', ');
  if (!Array.isArray(value)) return sayAnswer(value, asked);
  const items: readonly unknown[] = value;
  const rows = items.filter(isRow);
  if (rows.length > 0)
    return rows
      .map((row) =>
        Object.entries(row)
          .map(([name, cell]) =>
            sayWhole(
              cell,
              asked?.inputs?.find(({ id }) => id === name),
            ),
          )
          .join(', '),
      )
      .join(' · ');
  return items.map((item) => (isFile(item) ? item.filename : sayAnswer(String(item), asked))).join(', ');
}

/** Returns the answered rows of a matrix in order, followed by rows that were removed from it. */
export function rowsIn(
  cells: AnswerRow,
  asked?: AskedOf,
): { id: string; label: string; cell: AnswerValue }[] {
  const known = asked?.rows ?? [];
  const former = Object.keys(cells).filter((id) => known.every((row) => row.id !== id));
  return [...known, ...former.map((id) => ({ id, label: id }))].flatMap(({ id, label }) => {
    const cell = own(cells, id);
    return cell === undefined ? [] : [{ id, label, cell }];
  });
}

import type { ReactElement } from 'react';
import type { AnswerRow, AnswerValue, FileAnswer } from '#ast/answers/check-answers.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import {
  type InputElement,
  inputOptionsById,
  isInput,
  matrixRowsOf,
  numberDetailsOf,
  type Question,
} from '#ast/form/tree.ts';
import { formatNumber } from '#ast/rules/written-numbers.ts';
import type { ConsentAnswer } from '#ast/types/rules.ts';
import type { Column } from '#submissions/shapes.ts';
import { HighlightedText } from '../design/highlighted-text.tsx';
import { Icon } from '../design/icon.tsx';

/** The maximum number of characters of an answer in a table cell. The panel shows the rest. */
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
export const formatConsent = ({ at }: ConsentAnswer): string =>
  at === undefined ? 'Agreed' : `Agreed on ${formatTime(moment, at)} (UTC)`;

/** The parts of a question that are needed to display its answers. */
export type QuestionDisplay = Pick<
  Column,
  'type' | 'option_labels' | 'rows' | 'number_format' | 'pass_mark'
> &
  Partial<Pick<Column, 'inputs'>>;

/** Returns the display details of a question from its form. */
export const questionDisplay = (
  question: Pick<Question, 'element'> & { inputs?: readonly InputElement[] },
): QuestionDisplay => ({
  ...elementDisplay(question.element),
  inputs: (question.inputs ?? []).map((input) => ({
    ...elementDisplay(input),
    id: input.attrs.id,
    label: input.attrs.label,
    options: [],
  })),
});

const elementDisplay = (element: Question['element']): QuestionDisplay => ({
  type: element.type,
  rows: isInput(element) ? matrixRowsOf(element) : [],
  option_labels: Object.fromEntries(
    [...inputOptionsById(element).values()].map(({ id, label }) => [id, label]),
  ),
  ...(isInput(element) && numberDetailsOf(element)),
});

/** Formats an answer that is a single value. Dates and times have no time zone and are shown as given. */
export function formatSingleAnswer(value: string | number | boolean, display?: QuestionDisplay): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') {
    const { number_format: format, pass_mark: mark } = display ?? {};
    const text = formatNumber(value, undefined, format);
    return mark === undefined ? text : `${text} (${value >= mark ? 'passed' : 'not passed'})`;
  }
  if (display?.type === 'date') return formatTime(day, value);
  if (display?.type === 'datetime') return formatTime(moment, `${value}Z`);
  return (display && getProperty(display.option_labels, value)) ?? value;
}

function formatTime(format: Intl.DateTimeFormat, iso: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : format.format(time);
}

type AnswerCellProps = { value: AnswerValue | undefined; display: QuestionDisplay; hits: readonly string[] };

/** Shows an answer in a table cell as one text with highlighted hits. The value decides the format. */
export function AnswerCell({ value, display, hits }: AnswerCellProps): ReactElement | null {
  if (value === undefined) return null;
  const text = <HighlightedText text={formatAnswer(value, display)} hits={hits} limit={cellLimit} />;
  if (!Array.isArray(value) || !(value as readonly unknown[]).some(isFile)) return text;
  return (
    <span className="cell-files">
      <Icon name="file" />
      {text}
    </span>
  );
}

/** Formats any answer as one line of text. */
export function formatAnswer(value: AnswerValue, display?: QuestionDisplay): string {
  if (isConsent(value)) return formatConsent(value);
  if (isRow(value))
    return answeredMatrixRows(value, display)
      .map(({ label, cell }) => `${label}: ${formatAnswer(cell, display)}`)
      .join(', ');
  if (!Array.isArray(value)) return formatSingleAnswer(value, display);
  const items: readonly unknown[] = value;
  const rows = items.filter(isRow);
  if (rows.length > 0)
    return rows
      .map((row) =>
        Object.entries(row)
          .map(([name, cell]) =>
            formatAnswer(
              cell,
              display?.inputs?.find(({ id }) => id === name),
            ),
          )
          .join(', '),
      )
      .join(' · ');
  return items
    .map((item) => (isFile(item) ? item.filename : formatSingleAnswer(String(item), display)))
    .join(', ');
}

/** Returns the answered rows of a matrix in order, followed by rows that were removed from it. */
export function answeredMatrixRows(
  cells: AnswerRow,
  display?: QuestionDisplay,
): { id: string; label: string; cell: AnswerValue }[] {
  const known = display?.rows ?? [];
  const former = Object.keys(cells).filter((id) => known.every((row) => row.id !== id));
  return [...known, ...former.map((id) => ({ id, label: id }))].flatMap(({ id, label }) => {
    const cell = getProperty(cells, id);
    return cell === undefined ? [] : [{ id, label, cell }];
  });
}

import { useState } from 'react';
import { isRecord } from '#ast/json.ts';

/** How a person has arranged the table of one form, kept in this browser. */
export type TableSettings = {
  /** Ids of columns; what is missing here comes in the form's order. */
  order: readonly string[];
  hidden: readonly string[];
  /** Widths that were changed, in px. */
  widths: Readonly<Record<string, number>>;
  /** Several lines of text in a row, instead of one. */
  isTall: boolean;
};

const usual: TableSettings = { order: [], hidden: ['$reference'], widths: {}, isTall: false };

/** The settings of a person for a form, and a way to change them. */
export function useTableSettings(
  userId: string,
  formId: string,
): [TableSettings, (change: Partial<TableSettings>) => void] {
  const key = `formloom.table.${userId}.${formId}`;
  const [kept, setKept] = useState({ key, settings: read(key) });
  // The screen stays while its form changes.
  const settings = kept.key === key ? kept.settings : read(key);
  return [
    settings,
    (change) => {
      const next = { ...settings, ...change };
      localStorage.setItem(key, JSON.stringify(next));
      setKept({ key, settings: next });
    },
  ];
}

/** What an older version or another program has left there is taken as far as it makes sense. */
function read(key: string): TableSettings {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    if (!isRecord(stored)) return usual;
    const { order, hidden, widths, isTall } = stored;
    return {
      order: isTexts(order) ? order : usual.order,
      hidden: isTexts(hidden) ? hidden : usual.hidden,
      widths: isRecord(widths)
        ? Object.fromEntries(
            Object.entries(widths).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
          )
        : {},
      isTall: isTall === true,
    };
  } catch {
    return usual;
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

import { type RawAnswers, type Row, fieldName } from '#ast/fields.ts';
import { own } from '#ast/json.ts';
import type { InputElement } from '#ast/tree.ts';

/** A file that is kept between two posts of a page; `token` stands for it in a hidden input. `size` in bytes. */
export type HeldFile = { readonly token: string; readonly filename: string; readonly size: number };

export type HeldByName = ReadonlyMap<string, readonly HeldFile[]>;

/** What one file element takes. */
export type FileLimits = { readonly fileBytes: number; readonly filesPerElement: number };

/** What all fields of a page share. Errors and files are found by HTML name. */
export type PageState = {
  readonly errors: ReadonlyMap<string, readonly string[]>;
  readonly held: HeldByName;
  readonly limits: FileLimits;
  /** The name that gets the focus when the page loads: a field, a row `group[0]`, or a group (its Add button). */
  readonly focus: string | undefined;
};

/** Where an element stands: the answers around it, and the row when it is inside a repeatable composite. */
export type Place = {
  readonly page: PageState;
  readonly answers: RawAnswers;
  readonly row?: Row;
  /** One below the nearest heading, so that no level is skipped. */
  readonly headingTag: 'h2' | 'h3';
};

/** One input as the page shows it. `name` is the HTML name and the HTML id. */
export type Field = {
  readonly element: InputElement;
  readonly name: string;
  readonly value: unknown;
  readonly errors: readonly string[];
  readonly held: readonly HeldFile[];
  readonly limits: FileLimits;
  readonly hasFocus: boolean;
  readonly isInRow: boolean;
};

/** The field of an input at its place. */
export function fieldAt(element: InputElement, place: Place): Field {
  const { page, answers, row } = place;
  const name = fieldName(element, row);
  return {
    element,
    name,
    value: own(answers, element.attrs.id),
    errors: page.errors.get(name) ?? [],
    held: page.held.get(name) ?? [],
    limits: page.limits,
    hasFocus: page.focus === name,
    isInRow: row !== undefined,
  };
}

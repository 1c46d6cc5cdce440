import { own } from '#ast/basics/json.ts';
import { fieldName, type RawAnswers, type Row } from '#ast/form/fields.ts';
import { fillPiped } from '#ast/form/piping.ts';
import type { Element, InputElement } from '#ast/form/tree.ts';
import type { Shown } from '#ast/logic/evaluate.ts';
import type { NumberMarks } from '#ast/rules/written-numbers.ts';
import { type Html, piped, type SayAnswer } from '../../markup/html.ts';
import type { Picture } from '../../theme/look.ts';
import type { PageProblems, Words } from '../../words/words.ts';

/** A file that is kept between two posts of a page; `token` stands for it in a hidden input. `size` in bytes. */
export type HeldFile = {
  readonly token: string;
  readonly filename: string;
  readonly size: number;
  /** For the script, whose rules look at it. */
  readonly content_type?: string;
};

export type HeldByName = ReadonlyMap<string, readonly HeldFile[]>;

/** By element id and option, how many may still choose it; of other options there is no number. */
export type PlacesLeft = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** What one file element takes. */
export type FileLimits = { readonly fileBytes: number; readonly filesPerElement: number };

/** What all fields of a page share; `words` are the sentences of its language. Errors and files are found by HTML name. */
export type PageState = {
  readonly words: Words;
  readonly language: string;
  readonly sentences: PageProblems;
  readonly numbers: NumberMarks;
  readonly errors: ReadonlyMap<string, readonly string[]>;
  readonly held: HeldByName;
  readonly limits: FileLimits;
  /** Of the options whose places are counted, how many are left; all of them where nothing is sent from. */
  readonly places?: PlacesLeft | undefined;
  /** Where an image of the workspace is, and its sizes, by its id. */
  readonly pictureOf: (id: string) => Picture;
  /** The answers that texts show. */
  readonly say: SayAnswer;
  /** What the form's conditions show and require. */
  readonly shown: Shown;
  /** The paths of the elements that conditions show or hide: `0.2`, the index of the step and then of the element. */
  readonly conditional: ReadonlyMap<Element, string>;
  /** The day in the form's time zone, `YYYY-MM-DD`, for limits such as `today+30`. */
  readonly today: string;
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
  readonly hasFocus: boolean;
  readonly place: Place;
};

export function fieldAt(element: InputElement, place: Place): Field {
  const { page, answers, row } = place;
  const name = fieldName(element, row);
  return {
    element,
    name,
    value: own(answers, element.attrs.id),
    errors: page.errors.get(name) ?? [],
    held: page.held.get(name) ?? [],
    hasFocus: page.focus === name,
    place,
  };
}

/** A text of the author's at its place with the answers that it shows: where only text can stand. */
export function textAt(text: string, { page, row }: Pick<Place, 'page' | 'row'>): string {
  return fillPiped(text, (id) => page.say(id, row));
}

/** The same as markup. */
export function pipedAt(text: string, { page, row }: Pick<Place, 'page' | 'row'>): Html {
  return piped(text, page.say, row);
}

import { getProperty } from '#ast/basics/json.ts';
import type { ElementType } from '#ast/form/elements.ts';
import { fieldName, type GroupRow, type RawAnswers } from '#ast/form/fields.ts';
import { fillPiped } from '#ast/form/piping.ts';
import type { Element, InputElement } from '#ast/form/tree.ts';
import type { VisibleParts } from '#ast/logic/evaluate.ts';
import { type FormatAnswer, type Html, renderPiped } from '../../markup/html.ts';
import type { Picture } from '../../theme/page-style.ts';
import type { PageProblems, Words } from '../../words/words.ts';

/** A file that is kept between two posts of a page. A hidden input has its `token`. `size` is in bytes. */
export type KeptFile = {
  readonly token: string;
  readonly filename: string;
  readonly size: number;
  /** Used by the script's validation. */
  readonly content_type?: string;
};

export type KeptFilesByName = ReadonlyMap<string, readonly KeptFile[]>;

/** The remaining quota of each option, by element id and option id. Options without a quota have no entry. */
export type QuotasLeft = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The limits of a file element. */
export type FileLimits = { readonly fileBytes: number; readonly filesPerElement: number };

/**
 * The state shared by all fields of a page. `words` are in its language. Errors and files are keyed by HTML
 * name.
 */
export type PageState = {
  readonly words: Words;
  readonly language: string;
  readonly sentences: PageProblems;
  readonly numberLocale: string;
  readonly errors: ReadonlyMap<string, readonly string[]>;
  readonly files: KeptFilesByName;
  readonly limits: FileLimits;
  /**
   * The remaining quota of each option; undefined if the page cannot be submitted. The full quota is then
   * shown.
   */
  readonly places?: QuotasLeft | undefined;
  /** Whether visitors can choose a full option, and then join the waiting list. */
  readonly hasWaitingList?: boolean | undefined;
  /** Returns the URL and sizes of an image of the workspace. */
  readonly pictureOf: (id: string) => Picture;
  /** Formats the answers that texts show. */
  readonly say: FormatAnswer;
  /** What the form's conditions show and require now. */
  readonly shown: VisibleParts;
  /** Paths of elements with conditions: `0.2` is the index of the step, then the index of the element. */
  readonly conditional: ReadonlyMap<Element, string>;
  /** The ids of the email elements for which the page asks for a code. */
  readonly asks?: ReadonlySet<string> | undefined;
  /** Today in the form's time zone, `YYYY-MM-DD`, for limits such as `today+30`. */
  readonly today: string;
  /**
   * The HTML name that gets the focus when the page loads: a field, a row `group[0]`, or a group (its Add
   * button).
   */
  readonly focus: string | undefined;
};

/** The context of an element: the answers around it, and its row if it is inside a repeatable group. */
export type ElementContext = {
  readonly page: PageState;
  readonly answers: RawAnswers;
  readonly row?: GroupRow;
  /** The tag of a heading one level below the nearest heading, so that no level is skipped. */
  readonly headingTag: 'h2' | 'h3';
};

/** One rendered input. `name` is its HTML name and HTML id. */
export type Field = {
  readonly element: InputElement;
  readonly name: string;
  readonly value: unknown;
  readonly errors: readonly string[];
  readonly files: readonly KeptFile[];
  readonly hasFocus: boolean;
  readonly place: ElementContext;
};

export function fieldAt(element: InputElement, place: ElementContext): Field {
  const { page, answers, row } = place;
  const name = fieldName(element, row);
  return {
    element,
    name,
    value: getProperty(answers, element.attrs.id),
    errors: page.errors.get(name) ?? [],
    files: page.files.get(name) ?? [],
    hasFocus: page.focus === name,
    place,
  };
}

/** Fills answers into an author's text as plain text, for places where markup is not possible. */
export function fillPlainText(text: string, { page, row }: Pick<ElementContext, 'page' | 'row'>): string {
  return fillPiped(text, (id) => page.say(id, row));
}

/** Fills answers into an author's text as markup. */
export function renderPipedText(text: string, { page, row }: Pick<ElementContext, 'page' | 'row'>): Html {
  return renderPiped(text, page.say, row);
}

/** Renders an element. `styles` are added to the style sheet of forms with this element type. */
export type ElementRenderer<Type extends ElementType> = {
  (element: Extract<Element, { type: Type }>, place: ElementContext): Html;
  readonly styles?: readonly string[];
};

/**
 * Adds styles to a renderer. Styles that several types share must be identical strings, so that they are sent
 * once.
 */
export const withStyles = <Type extends ElementType>(
  styles: readonly string[],
  draw: ElementRenderer<Type>,
): ElementRenderer<Type> => Object.assign(draw, { styles });

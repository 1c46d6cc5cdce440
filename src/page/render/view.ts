import { type RawAnswers } from '#ast/form/fields.ts';
import { type Form, isRequired } from '#ast/form/tree.ts';
import type { Shown } from '#ast/logic/evaluate.ts';
import type { NumberMarks } from '#ast/rules/written-numbers.ts';
import type { Social } from '../markup/document.ts';
import { type SayAnswer } from '../markup/html.ts';
import type { Look } from '../theme/look.ts';
import type { PageProblems, Words } from '../words/words.ts';
import type { FileLimits, HeldByName, PageState, PlacesLeft } from './elements/place.ts';
import type { LanguageChoice } from './language-switch.ts';
import { type ReviewWords } from './review.ts';

/** The sentences that the page's script says; the others stay on the server. */
const scriptWordNames = [
  'errorTitle',
  'problem',
  'step',
  'stepTitle',
  'row',
  'remove',
  'sending',
  'sendAgain',
  'noLine',
  'offline',
  'tooMany',
  'uploading',
  'uploaded',
  'uploadFailed',
  'uploadsWait',
  'fileUnsent',
  'replace',
  'cancel',
  'savedNow',
  'fileTooLarge',
  'filesCrowded',
  'labelled',
  'countLeft',
  'countOver',
  'anImage',
  'aSound',
  'aVideo',
  'aPdf',
  'aFile',
] as const satisfies readonly (keyof Words)[];

type ScriptWords = Pick<Words, (typeof scriptWordNames)[number]>;

/**
 * What the page tells its script (web/page/), as JSON in `<script type="application/json" id="_form">`.
 * The answers themselves are in the controls, as they are for a visitor without script.
 */
export type ScriptData = {
  readonly form: Form;
  readonly sentences: PageProblems;
  readonly words: ScriptWords;
  readonly numbers: NumberMarks;
  /** The day in the form's time zone, `YYYY-MM-DD`. */
  readonly today: string;
  /** The address's parameters that a condition names, and no others. */
  readonly reference: Readonly<Record<string, string>>;
  readonly limits: FileLimits;
  /** The index of the step that is shown. */
  readonly step: number;
  /** Where one file is posted, `/f/<id>/files` or `/f/<id>/edit/<token>/files` (src/page/upload-route.ts). */
  readonly upload: string;
  /** Whether answers are kept on the server as the visitor goes: the form is then posted with `_go=save`. */
  readonly saves?: true;
  /** What the list of answers says, where the form has one as its last step. */
  readonly review?: ReviewWords;
  /** What answers in texts need to be said, where texts of the form show any. */
  readonly piping?: Pick<Words, 'yes' | 'no'>;
  /** Whether options are offered by conditions. */
  readonly offers?: true;
  /** Where each question is a step of its own. */
  readonly singly?: Pick<Words, 'newLine'>;
  /** Leading zero bits that the proof of work must have (src/page/visit/screening.ts); absent when none is asked. */
  readonly proof?: number;
};

/** The script's part of all words. */
export function scriptWords(words: Words): ScriptWords {
  return Object.fromEntries(scriptWordNames.map((name) => [name, words[name]])) as ScriptWords;
}

/** What is wrong with a field, by its HTML name, in the language of the page. */
export type FieldMessage = { readonly field: string; readonly message: string };

/** One showing of a form's page. */
export type FormView = {
  readonly form: Form;
  /** Where the form posts to. */
  readonly action: string;
  /** Raw answers as `readFields` gives them; a repeatable composite is a list of rows. */
  readonly values: RawAnswers;
  readonly errors: readonly FieldMessage[];
  /** Files of earlier posts, by HTML name. */
  readonly held: HeldByName;
  /** BCP-47 tag of the page's language, in which `words` are. */
  readonly language: string;
  /** Where the page is in the form's other languages, and whether it was just asked for in this one. */
  readonly otherLanguages?: LanguageChoice | undefined;
  readonly words: Words;
  /** What is said of what the browser itself cannot read. */
  readonly sentences: PageProblems;
  /** How numbers are written here. */
  readonly numbers: NumberMarks;
  /** What the form's theme makes of the page. */
  readonly look?: Look | undefined;
  /** What sites that show a link to the page say of it. */
  readonly social?: Social | undefined;
  readonly limits: FileLimits;
  readonly places?: PlacesLeft | undefined;
  /** Where an image of the workspace is, and its sizes, by its id; without it, nowhere. */
  readonly pictureOf?: PageState['pictureOf'] | undefined;
  /** The index of the step that is asked now. */
  readonly step: number;
  /** What the form's conditions make of `values`. */
  readonly shown: Shown;
  /** YYYY-MM-DD in the form's time zone. */
  readonly today: string;
  /** What takes the focus: a field, a row `group[0]` (its first field), a group (its Add button) or a step's heading. Errors win. */
  readonly focus?: string | undefined;
  /** A sentence of the page about where the visitor is: it takes the focus unless there are errors. */
  readonly notice?: string | undefined;
  /** The answers that texts show, when they are others than `values`: the canvas shows their names. */
  readonly say?: SayAnswer | undefined;
  /** Whether each question is a step of its own. */
  readonly asksSingly?: boolean | undefined;
  /** What the visitor has seen who changes an answer and then returns to the list of all (post/return-to-review.ts). */
  readonly known?: string | undefined;
  /** How far the bar was before, in percent. */
  readonly done?: number | undefined;
  /** Whether the answers can be saved, to go on later. */
  readonly saves?: boolean | undefined;
  /** Whether answers that were sent are changed: the title says so. */
  readonly edit?: boolean | undefined;
  /** What the last button says when it is not to submit. */
  readonly submitText?: string | undefined;
  /** More values to post. Names begin with `_`, as those of all page controls do. */
  readonly hidden?: readonly (readonly [name: string, value: string])[] | undefined;
  /** The page's script and what it is told; without one the page works all the same. */
  readonly script?: { readonly source: string; readonly data: ScriptData } | undefined;
};

/** A form with these steps as if none of its conditions were there: what the builder's canvas draws. */
export const everythingShown = (steps: readonly number[]): Shown => ({
  steps,
  isShown: () => true,
  isRequired,
  holds: () => true,
  calculated: () => undefined,
});

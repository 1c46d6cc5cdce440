import { type RawAnswers } from '#ast/form/fields.ts';
import { type Form, isRequired } from '#ast/form/tree.ts';
import type { VisibleParts } from '#ast/logic/evaluate.ts';
import type { LinkPreview } from '../markup/document.ts';
import { type FormatAnswer } from '../markup/html.ts';
import type { PageStyle } from '../theme/page-style.ts';
import type { PageProblems, Words } from '../words/words.ts';
import type { FileLimits, KeptFilesByName, PageState, QuotasLeft } from './elements/element-context.ts';
import type { LanguageChoice } from './language-switch.ts';
import { type ReviewWords } from './review.ts';

/** The texts that the page's script needs. The others stay on the server. */
const scriptWordNames = [
  'errorTitle',
  'problem',
  'step',
  'stepTitle',
  'row',
  'noAnswer',
  'remove',
  'sending',
  'sendAgain',
  'noLine',
  'offline',
  'tooMany',
  'uploading',
  'uploaded',
  'uploadFailed',
  'uploadAgain',
  'uploadsWait',
  'fileUnsent',
  'uploadPaused',
  'tryAgain',
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
 * The data for the page's script (web/page/), as JSON in `<script type="application/json" id="_form">`. The
 * answers are in the controls, as they are without a script.
 */
export type ScriptData = {
  readonly form: Form;
  readonly sentences: PageProblems;
  readonly words: ScriptWords;
  readonly numberLocale: string;
  /** Today in the form's time zone, `YYYY-MM-DD`. */
  readonly today: string;
  /** The URL parameters that the form's conditions use. */
  readonly reference: Readonly<Record<string, string>>;
  readonly limits: FileLimits;
  /** The index of the visible step. */
  readonly step: number;
  /** The URL for file uploads: `/f/<id>/files` or `/f/<id>/edit/<token>/files` (src/page/upload-route.ts). */
  readonly upload: string;
  /** The raw answers of questions that the page skips. */
  readonly skipped?: RawAnswers;
  /**
   * Whether the script saves answers on the server as the visitor fills in the form, by posting with
   * `_go=save`.
   */
  readonly saves?: true;
  /** The words of the review step, if the form has one. */
  readonly review?: ReviewWords;
  /** The words for formatting answers in texts, if any text of the form shows an answer. */
  readonly piping?: Pick<Words, 'yes' | 'no'>;
  /** Whether options have conditions. */
  readonly offers?: true;
  /** Set if each question is a step. */
  readonly singly?: Pick<Words, 'newLine'>;
  /**
   * Leading zero bits that the proof of work must have (src/page/visit/screening.ts); absent if none is
   * required.
   */
  readonly proof?: number;
};

/** Selects the texts that the script needs. */
export function scriptWords(words: Words): ScriptWords {
  return Object.fromEntries(scriptWordNames.map((name) => [name, words[name]])) as ScriptWords;
}

/** An error of a field, by its HTML name, in the language of the page. */
export type FieldMessage = { readonly field: string; readonly message: string };

/** The data for rendering a form's page. */
export type FormPageView = {
  readonly form: Form;
  /** The URL that the form posts to. */
  readonly action: string;
  /** Raw answers from `parseRawAnswers`; a repeatable group is a list of rows. */
  readonly values: RawAnswers;
  readonly errors: readonly FieldMessage[];
  /** Files of earlier posts, by HTML name. */
  readonly files: KeptFilesByName;
  /** The BCP 47 tag of the language of the page and of `words`. */
  readonly language: string;
  /** The page's URLs in the form's other languages. */
  readonly otherLanguages?: LanguageChoice | undefined;
  readonly words: Words;
  /** The messages about invalid answers. */
  readonly sentences: PageProblems;
  /** The BCP 47 tag by which the page formats numbers. */
  readonly numberLocale: string;
  /** The look of the form's theme. */
  readonly look?: PageStyle | undefined;
  /** The link preview that other sites show. */
  readonly social?: LinkPreview | undefined;
  readonly limits: FileLimits;
  readonly places?: QuotasLeft | undefined;
  readonly hasWaitingList?: boolean | undefined;
  /** Says that a submission joins the waiting list. */
  readonly waitNotice?: string | undefined;
  /** The link to cancel the submission that is being edited. */
  readonly cancelLink?: { readonly address: string; readonly text: string } | undefined;
  /** Returns the URL and sizes of an image of the workspace. */
  readonly pictureOf?: PageState['pictureOf'] | undefined;
  /** The index of the current step. */
  readonly step: number;
  /** What the form's conditions show for `values`. */
  readonly shown: VisibleParts;
  /** The email elements for which the page asks for a code. */
  readonly asks?: PageState['asks'];
  /** Today's date in the form's time zone, YYYY-MM-DD. */
  readonly today: string;
  /**
   * The element that gets the focus: a field, a row `group[0]` (its first field), a group (its Add button) or
   * a step's heading. Errors take precedence.
   */
  readonly focus?: string | undefined;
  /** A message at the top of the page. It gets the focus unless there are errors. */
  readonly notice?: string | undefined;
  /** Formats the answers that texts show, if not from `values`: the canvas shows their names. */
  readonly say?: FormatAnswer | undefined;
  /** Whether each question is a step. */
  readonly asksSingly?: boolean | undefined;
  /** Marks of what the visitor saw in the review before changing an answer (post/return-to-review.ts). */
  readonly known?: string | undefined;
  /** The percentage that the progress bar showed on the previous page. */
  readonly done?: number | undefined;
  /** Whether the answers can be saved for later. */
  readonly saves?: boolean | undefined;
  /** Whether a submission is being edited. The title then says so. */
  readonly edit?: boolean | undefined;
  /** The label of the submit button, if it differs from the default. */
  readonly submitText?: string | undefined;
  /** More hidden values to post. Their names begin with `_`, like those of all page controls. */
  readonly hidden?: readonly (readonly [name: string, value: string])[] | undefined;
  /** The page's script and its data. The page also works without them. */
  readonly script?: { readonly source: string; readonly data: ScriptData } | undefined;
};

/** Returns the visible parts as if every element of these steps were shown, for the builder's canvas. */
export const everythingShown = (steps: readonly number[]): VisibleParts => ({
  steps,
  isShown: () => true,
  isRequired,
  isValid: () => true,
  holds: () => true,
  calculated: () => undefined,
});

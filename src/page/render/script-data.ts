import type { NumberMarks } from '#ast/rules/written-numbers.ts';
import type { Form } from '#ast/tree.ts';
import type { PageProblems, Words } from '../words/words.ts';
import type { ReviewWords } from './review.ts';
import type { FileLimits } from './elements/place.ts';

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
  /** Leading zero bits that the proof of work must have (src/page/screening.ts); absent when none is asked. */
  readonly proof?: number;
};

/** The script's part of all words. */
export function scriptWords(words: Words): ScriptWords {
  return Object.fromEntries(scriptWordNames.map((name) => [name, words[name]])) as ScriptWords;
}

import type { AnswerSpeech } from '#ast/answers/say-answer.ts';
import { sayGiven } from '#ast/answers/say-piped.ts';
import { countRows, fieldName, type RawAnswers, type Row } from '#ast/fields.ts';
import type { Shown } from '#ast/logic/evaluate.ts';
import {
  type Form,
  type InputElement,
  isAsked,
  isCalculation,
  isRequired,
  isSeen,
  listQuestions,
  type Question,
} from '#ast/tree.ts';
import { fillPiped } from '#ast/piping.ts';
import { fill } from '#ast/words.ts';
import type { PageProblems, Words } from '../words/words.ts';
import { attributes, type Html, html, type SayAnswer } from './html.ts';
import { rowName } from './elements/rows.ts';
import type { NumberMarks } from '#ast/rules/written-numbers.ts';
import type { FileLimits, HeldByName, PageState, PlacesLeft } from './elements/place.ts';
import type { Look } from '../theme/look.ts';
import type { Social } from './document.ts';
import type { LanguageChoice } from './language-switch.ts';

/** What the list of answers says by itself. */
type ReviewWords = Pick<Words, 'change' | 'noAnswer' | 'row' | 'yes' | 'no'>;

/** The answers as a page holds them, and how to say them. */
type Review = Omit<AnswerSpeech, 'words'> & {
  readonly form: Form;
  readonly values: RawAnswers;
  readonly held: ReadonlyMap<string, readonly { readonly filename: string }[]>;
  readonly shown: Shown;
  readonly words: ReviewWords;
  readonly say: SayAnswer;
};

/** What the button that leads to a field posts as `_go`. */
export const changeOf = (name: string): string => `change:${name}`;

/**
 * Every question that the visitor was asked with its answer, below the titles of their steps, and a button that leads
 * back to each. The buttons are plain form posts.
 */
export function renderReview(review: Review): Html {
  let title: string | undefined;
  const parts = review.form.children.flatMap((step, index) => {
    if (!review.shown.steps.includes(index)) return [];
    const lists = [...listsOf(review, listQuestions({ ...review.form, children: [step] }))];
    const own = step.attrs?.title;
    const isNew = own !== title && lists.length > 0;
    if (lists.length > 0) title = own;
    return [...(isNew && own ? [html`<h3>${labelOf(review, own)}</h3>`] : []), ...lists];
  });
  return html`<div class="review">
${parts}
</div>`;
}

/** A list for the questions between two groups with rows, and one for each of their rows. */
function* listsOf(review: Review, questions: readonly Question[]): Generator<Html, void> {
  let entries: Html[] = [];
  for (const question of questions) {
    if (!isSeen(question.element) || !review.shown.isShown(question.element)) continue;
    if (question.kind === 'input') {
      entries.push(entryOf(review, question.element));
      continue;
    }
    if (entries.length > 0) yield list(entries);
    entries = [];
    yield* rowLists(review, question);
  }
  if (entries.length > 0) yield list(entries);
}

const list = (entries: readonly Html[]): Html => html`<dl class="answers">
${entries}
</dl>`;

/** The rows that hold something; a group without any was not answered. */
function* rowLists(
  review: Review,
  { element: group, inputs }: Extract<Question, { kind: 'group' }>,
): Generator<Html, void> {
  const { id } = group.attrs;
  const label = labelOf(review, group.attrs.label);
  const { words, shown } = review;
  let isBlank = true;
  for (let index = 0; index < countRows(group, review.values, review.held); index += 1) {
    const row = { group, index };
    const asked = inputs.filter((input) => isSeen(input) && shown.isShown(input, row));
    const isGiven = (input: InputElement): boolean =>
      isAsked(input) && sayReviewed(review, input, row).length > 0;
    if (!asked.some(isGiven)) continue;
    isBlank = false;
    yield html`<h4>${fill(words.row, { label, number: index + 1 })}</h4>`;
    yield list(asked.map((input) => entryOf(review, input, row)));
  }
  if (isBlank) yield list([entry(review, { label, said: [], name: rowName(id, 0) })]);
}

const entryOf = (review: Review, input: InputElement, row?: Row): Html =>
  entry(review, {
    label: labelOf(review, input.attrs.label, row),
    said: sayReviewed(review, input, row),
    name: isCalculation(input) ? undefined : fieldName(input, row),
    place:
      row && fill(review.words.row, { label: labelOf(review, row.group.attrs.label), number: row.index + 1 }),
  });

const labelOf = ({ say }: Review, label: string, row?: Row): string => fillPiped(label, (id) => say(id, row));

type Entry = {
  readonly label: string;
  readonly said: readonly string[];
  /** The field that it can be changed at; none of what is worked out. */
  readonly name: string | undefined;
  /** The row, for those who hear the button without what stands around it. */
  readonly place?: string | undefined;
};

function entry({ words }: Review, { label, said, name, place }: Entry): Html {
  const change =
    name !== undefined &&
    html`<button${attributes({ type: 'submit', name: '_go', value: changeOf(name), class: 'change' })}>${words.change}<span class="unseen"> ${place && `${place} – `}${label}</span></button>`;
  const answer =
    said.length > 0 ? said.map((one) => html`<p>${one}</p>`) : html`<p class="size">${words.noAnswer}</p>`;
  return html`<div>
<dt>${label}</dt>
<dd>${answer}</dd>
${change && html`<dd>${change}</dd>`}
</div>`;
}

const sayReviewed = (review: Review, input: InputElement, row?: Row): string[] =>
  sayGiven({ ...review, speech: review }, input, row);

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

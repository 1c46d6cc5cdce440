import {
  type AnswerError,
  type AnswerFiles,
  checkAnswers,
  type FieldProblem,
  type FileAnswer,
} from '#ast/answers/check-answers.ts';
import { answerSayer } from '#ast/answers/say-piped.ts';
import { fill } from '#ast/basics/words.ts';
import { newWork } from '#ast/basics/work.ts';
import { type RawAnswers, readFields } from '#ast/form/fields.ts';
import { type Form, languagesOf } from '#ast/form/tree.ts';
import { type AnswerContext, evaluate, type Shown } from '#ast/logic/evaluate.ts';
import { todayIn } from '#ast/rules/today.ts';
import type { NumberMarks } from '#ast/rules/written-numbers.ts';
import type { Settings } from '#ast/settings.ts';
import { settingsInLanguage } from '#ast/translations/check-translations.ts';
import { inLanguage } from '#ast/translations/translations.ts';
import { type Controls, controlOf, numberOf, seenOf } from '#page/post/controls.ts';
import { applyRowAction, readAction } from '#page/post/row-action.ts';
import { firstWrongStep, leadToField, takeStep } from '#page/post/take-step.ts';
import { shownByCondition } from '#page/render/elements/conditional.ts';
import { restoreRows } from '#page/render/elements/rows.ts';
import { renderForm } from '#page/render/form.ts';
import { languageAction } from '#page/render/language-switch.ts';
import { renderConfirmation } from '#page/render/notices.ts';
import { askedForm } from '#page/render/steps.ts';
import type { FieldMessage, FormView } from '#page/render/view.ts';
import { type Look, plainLook } from '#page/theme/look.ts';
import { sayToVisitor } from '#page/words/say-problem.ts';
import { fileLimits } from '../canvas/page-markup.ts';
import { speechOf } from '../canvas/speech.ts';

/** A form that is filled in for a test: what the server would answer, as whole pages, and nothing is stored. */
export type Trial = {
  /** The form as its pages ask it. */
  readonly form: Form;
  page(): string;
  post(data: FormData): string;
  /** What the answers make of the page that is shown. */
  look(data: FormData): TrialLook;
};

/** What answers show, before any button is pressed. */
export type TrialLook = {
  readonly shown: Shown;
  /** The marks of what conditions show, which the page posts (`_seen`). */
  readonly seen: Iterable<string>;
  /** How numbers are written. */
  readonly numbers: NumberMarks;
  readonly isLast: boolean;
  /** Where the visitor is: `Step 2 of 3`. */
  readonly progress: string;
};

/** What of the settings changes how the page looks and asks. */
export type TrialSettings = Pick<
  Settings,
  'confirmation_message' | 'layout' | 'locale' | 'review_step' | 'theme' | 'time_zone' | 'translations'
>;

type Posted = {
  readonly raw: RawAnswers;
  readonly files: AnswerFiles;
  readonly controls: Controls;
  readonly step: number;
};

type Showing = Pick<FormView, 'focus' | 'notice' | 'known'> & {
  readonly step: number;
  readonly errors: readonly FieldMessage[];
};

/**
 * @param now decides which day is today.
 * @param images the pictures of the theme, and where those of elements are; its colours are the matter of whoever shows the page.
 */
export function startTrial(
  structure: Form,
  written: TrialSettings,
  now: Date,
  { pictureOf, ...images }: Pick<Look, 'logo' | 'darkLogo' | 'cover'> & Pick<FormView, 'pictureOf'> = {},
): Trial {
  const look = { ...plainLook, ...images };
  const languages = languagesOf(structure);
  const asksSingly = written.layout === 'question';
  /** All that is said in the language that is wished for. */
  const speak = (wish?: string) => {
    const speech = speechOf(languages, written, wish);
    return {
      ...speech,
      settings: settingsInLanguage(written, speech.language),
      form: askedForm(inLanguage(structure, speech.language), written, speech.words),
    };
  };
  let { language, words, settings, form, sentences, numbers } = speak();
  const context: AnswerContext = {
    reference: {},
    today: todayIn(written.time_zone ?? 'UTC', now),
    asksSingly,
    // Each question has that of a request.
    get work() {
      return newWork();
    },
  };
  const say = ({ field, problem }: FieldProblem): FieldMessage => ({
    field,
    message: sayToVisitor(problem, { language, sentences, words, numbers }),
  });
  const sayError = ({ field, message, problem }: AnswerError): FieldMessage =>
    problem ? say({ field, problem }) : { field, message };
  const draw = ({ raw, files }: Pick<Posted, 'raw' | 'files'>, showing: Showing): string =>
    renderForm({
      ...showing,
      form,
      asksSingly,
      action: '#',
      values: raw,
      held: new Map(
        [...files].map(([name, list]) => [name, list.map((file) => ({ ...file, token: file.id }))]),
      ),
      language,
      otherLanguages: languages.length > 1 ? { language, languages, addressIn: () => '#' } : undefined,
      words,
      sentences,
      numbers,
      look,
      limits: fileLimits,
      pictureOf,
      shown: evaluate(form, raw, context, files),
      today: context.today,
      submitText: settings.theme?.submit_label,
    });
  let held: AnswerFiles = new Map();

  const finish = (posted: Posted): string => {
    const result = checkAnswers(form, posted.raw, posted.files, context);
    if (!result.ok) return draw(posted, firstWrongStep(form, result.errors.map(sayError), posted.step));
    return renderConfirmation({
      formName: form.attrs.name,
      title: settings.theme?.confirmation_title,
      message: settings.confirmation_message,
      say: answerSayer({
        form,
        values: posted.raw,
        held: posted.files,
        shown: evaluate(form, posted.raw, context, posted.files),
        speech: { language, numbers, words },
      }),
      receipt: 'test, not stored',
      language,
      look,
      words,
    });
  };
  return {
    get form() {
      return form;
    },
    page: () =>
      draw({ raw: {}, files: new Map() }, { step: evaluate(form, {}, context).steps[0] ?? 0, errors: [] }),
    post(data) {
      const posted = readPosted(form, data, held);
      held = posted.files;
      const { raw, files, controls, step } = posted;
      const action = readAction(controls);
      const known = controlOf(controls, '_known');
      if (action.kind === 'add' || action.kind === 'remove') {
        const changed = applyRowAction(action, raw, files);
        held = changed.files;
        return draw(changed, { step, errors: [], focus: changed.focus, known });
      }
      if (action.kind === 'language') {
        ({ language, words, settings, form, sentences, numbers } = speak(action.language));
        return draw(posted, { step, errors: [], focus: languageAction, known });
      }
      if (action.kind === 'change') {
        const answered = { form, raw, files, context, shown: evaluate(form, raw, context, files) };
        return draw(posted, leadToField(answered, action.field) ?? { step, errors: [] });
      }
      const go = action.kind === 'save' ? 'next' : action.kind;
      const seen = seenOf(controls);
      const result = takeStep({ form, raw, files, context, step, go, seen, known, problems: [], say });
      if (result.kind === 'submit') return finish(posted);
      return draw(posted, { known, ...result, notice: result.notice && words[result.notice] });
    },
    look(data) {
      const { raw, files, step } = readPosted(form, data, held);
      const shown = evaluate(form, raw, context, files);
      const place = {
        number: Math.max(1, shown.steps.indexOf(step) + 1),
        total: Math.max(1, shown.steps.length),
      };
      return {
        shown,
        seen: shownByCondition(form, step, shown, { answers: raw, held: files }).keys(),
        numbers,
        isLast: step === (shown.steps.at(-1) ?? step),
        progress: fill(words.step, place),
      };
    },
  };
}

/** What the page posts, read as the server reads it; files chosen before stay until they are dropped. */
function readPosted(form: Form, data: FormData, held: AnswerFiles): Posted {
  const entries = [...data].filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const { raw, extra } = readFields(form, entries);
  const dropped = new Set(extra.filter(([name]) => name === '_drop').map(([, token]) => token));
  const files = new Map<string, readonly FileAnswer[]>();
  for (const [name, list] of [...held, ...chosenFiles(data)]) {
    const kept = list.filter(({ id }) => !dropped.has(id));
    const known = files.get(name) ?? [];
    const fresh = kept.filter(({ id }) => known.every((file) => file.id !== id));
    if (fresh.length > 0) files.set(name, [...known, ...fresh]);
  }
  return { raw: restoreRows(form, raw, extra), files, controls: extra, step: numberOf(extra, '_step') ?? 0 };
}

/** The chosen files as the server would know them; their content stays where it is. */
function chosenFiles(data: FormData): [name: string, files: FileAnswer[]][] {
  return [...data].flatMap(([name, value]): [string, FileAnswer[]][] => {
    // An empty file input posts one nameless file.
    if (typeof value === 'string' || (value.name === '' && value.size === 0)) return [];
    const { name: filename, size, type, lastModified } = value;
    const id = `${filename}-${size}-${lastModified}`;
    return [[name, [{ id, filename, size, content_type: type }]]];
  });
}

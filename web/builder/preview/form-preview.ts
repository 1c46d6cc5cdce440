import {
  type AnswerError,
  type AnswerFiles,
  checkAnswers,
  type FieldProblem,
  type FileAnswer,
} from '#ast/answers/check-answers.ts';
import { createAnswerFormatter } from '#ast/answers/format-piped.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import { parseRawAnswers, type RawAnswers } from '#ast/form/fields.ts';
import { type Form, languagesOf } from '#ast/form/tree.ts';
import { type EvaluationContext, evaluateVisibility, type VisibleParts } from '#ast/logic/evaluate.ts';
import { todayIn } from '#ast/rules/today.ts';
import type { Settings } from '#ast/settings.ts';
import { settingsInLanguage } from '#ast/translations/check-translations.ts';
import { formInLanguage } from '#ast/translations/translations.ts';
import { getControlNumber, getControlValue, getSeenMarks, type PostedControls } from '#page/post/controls.ts';
import { findFieldStep, firstWrongStep, resolveStep } from '#page/post/resolve-step.ts';
import { applyRowAction, readPageAction } from '#page/post/row-action.ts';
import { listConditionalMarks } from '#page/render/elements/conditional.ts';
import { applyMove } from '#page/render/elements/ranking-moves.ts';
import { restoreRows } from '#page/render/elements/rows.ts';
import { renderForm } from '#page/render/form.ts';
import { languageActionPrefix } from '#page/render/language-switch.ts';
import { renderConfirmation } from '#page/render/notices.ts';
import { arrangeSteps } from '#page/render/steps.ts';
import type { FieldMessage, FormPageView } from '#page/render/view.ts';
import { type PageStyle, plainPageStyle } from '#page/theme/page-style.ts';
import { formatProblemForVisitor } from '#page/words/format-problem.ts';
import { fileLimits, pageTextsOf } from '../../design/page-document.ts';

/** A form that is filled in as a preview. It returns the pages that the server would, and stores nothing. */
export type FormPreview = {
  /** The form as its pages present it. */
  readonly form: Form;
  page(): string;
  post(data: FormData): string;
  /** Returns what the current answers change on the page. */
  look(data: FormData): PreviewEffects;
};

/** The effects of answers before a button is pressed. */
export type PreviewEffects = {
  readonly shown: VisibleParts;
  /** The ids of conditional elements that were shown, which the page posts (`_seen`). */
  readonly seen: Iterable<string>;
  /** The number format. */
  readonly numberLocale: string;
  readonly isLast: boolean;
  /** The visitor's progress: `Step 2 of 3`. */
  readonly progress: string;
};

/** The settings that affect how the page looks and behaves. */
export type PreviewSettings = Pick<
  Settings,
  'confirmation_message' | 'layout' | 'locale' | 'review_step' | 'theme' | 'time_zone' | 'translations'
>;

type Posted = {
  readonly raw: RawAnswers;
  readonly files: AnswerFiles;
  readonly controls: PostedControls;
  readonly step: number;
};

type Showing = Pick<FormPageView, 'focus' | 'notice' | 'known'> & {
  readonly step: number;
  readonly errors: readonly FieldMessage[];
};

/**
 * Starts a preview of a form.
 * @param now determines the current date.
 * @param images the images of the theme and the URLs of element images. The caller applies the colors.
 */
export function startPreview(
  structure: Form,
  written: PreviewSettings,
  now: Date,
  {
    pictureOf,
    ...images
  }: Pick<PageStyle, 'logo' | 'darkLogo' | 'cover'> & Pick<FormPageView, 'pictureOf'> = {},
): FormPreview {
  const look = { ...plainPageStyle, ...images };
  const languages = languagesOf(structure);
  const asksSingly = written.layout === 'question';
  /** Returns the form, its settings and all texts in the requested language. */
  const translate = (requested?: string) => {
    const texts = pageTextsOf(languages, written, requested);
    return {
      ...texts,
      settings: settingsInLanguage(written, texts.language),
      form: arrangeSteps(formInLanguage(structure, texts.language), written, texts.words),
    };
  };
  let { language, words, settings, form, sentences, numberLocale } = translate();
  const context: EvaluationContext = {
    reference: {},
    today: todayIn(written.time_zone ?? 'UTC', now),
    asksSingly,
    // A new work budget for each evaluation, because each request to the server gets one.
    get work() {
      return createWorkBudget();
    },
  };
  const messageOf = ({ field, problem }: FieldProblem): FieldMessage => ({
    field,
    message: formatProblemForVisitor(problem, { language, sentences, words, numberLocale }),
  });
  const errorMessageOf = ({ field, message, problem }: AnswerError): FieldMessage =>
    problem ? messageOf({ field, problem }) : { field, message };
  const draw = ({ raw, files }: Pick<Posted, 'raw' | 'files'>, showing: Showing): string =>
    renderForm({
      ...showing,
      form,
      asksSingly,
      action: '#',
      values: raw,
      files: new Map(
        [...files].map(([name, list]) => [name, list.map((file) => ({ ...file, token: file.id }))]),
      ),
      language,
      otherLanguages: languages.length > 1 ? { language, languages, addressIn: () => '#' } : undefined,
      words,
      sentences,
      numberLocale,
      look,
      limits: fileLimits,
      pictureOf,
      shown: evaluateVisibility(form, raw, context, files),
      today: context.today,
      submitText: settings.theme?.submit_label,
    });
  let previousFiles: AnswerFiles = new Map();

  const finish = (posted: Posted): string => {
    const result = checkAnswers(form, posted.raw, posted.files, context);
    if (!result.ok) return draw(posted, firstWrongStep(form, result.errors.map(errorMessageOf), posted.step));
    return renderConfirmation({
      formName: form.attrs.name,
      title: settings.theme?.confirmation_title,
      message: settings.confirmation_message,
      say: createAnswerFormatter({
        form,
        values: posted.raw,
        files: posted.files,
        shown: evaluateVisibility(form, posted.raw, context, posted.files),
        format: { language, numberLocale, words },
      }),
      receipt: 'preview, not saved',
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
      draw(
        { raw: {}, files: new Map() },
        { step: evaluateVisibility(form, {}, context).steps[0] ?? 0, errors: [] },
      ),
    post(data) {
      const posted = readPosted(form, data, previousFiles);
      previousFiles = posted.files;
      const { raw, files, controls, step } = posted;
      const action = readPageAction(controls);
      const known = getControlValue(controls, '_known');
      if (action.kind === 'add' || action.kind === 'remove') {
        const changed = applyRowAction(action, raw, files);
        previousFiles = changed.files;
        return draw(changed, { step, errors: [], focus: changed.focus, known });
      }
      if (action.kind === 'move') {
        const focus = applyMove(form, raw, action.move);
        return draw(posted, { step, errors: [], focus, known });
      }
      if (action.kind === 'language') {
        ({ language, words, settings, form, sentences, numberLocale } = translate(action.language));
        return draw(posted, { step, errors: [], focus: languageActionPrefix, known });
      }
      if (action.kind === 'change') {
        const answered = { form, raw, files, context, shown: evaluateVisibility(form, raw, context, files) };
        return draw(posted, findFieldStep(answered, action.field) ?? { step, errors: [] });
      }
      const go = action.kind === 'save' ? 'next' : action.kind;
      const seen = getSeenMarks(controls);
      const result = resolveStep({ ...posted, form, context, go, seen, known, problems: [], say: messageOf });
      if (result.kind === 'submit') return finish(posted);
      return draw(posted, { known, ...result, notice: result.notice && words[result.notice] });
    },
    look(data) {
      const { raw, files, step } = readPosted(form, data, previousFiles);
      const shown = evaluateVisibility(form, raw, context, files);
      const place = {
        number: Math.max(1, shown.steps.indexOf(step) + 1),
        total: Math.max(1, shown.steps.length),
      };
      return {
        shown,
        seen: listConditionalMarks(form, step, shown, { answers: raw, files }).keys(),
        numberLocale,
        isLast: step === (shown.steps.at(-1) ?? step),
        progress: fillTemplate(words.step, place),
      };
    },
  };
}

/** Reads posted answers as the server does. Previously chosen files stay until they are removed. */
function readPosted(form: Form, data: FormData, previousFiles: AnswerFiles): Posted {
  const entries = [...data].filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const { raw, extra } = parseRawAnswers(form, entries);
  const dropped = new Set(extra.filter(([name]) => name === '_drop').map(([, token]) => token));
  const files = new Map<string, readonly FileAnswer[]>();
  for (const [name, list] of [...previousFiles, ...chosenFiles(data)]) {
    const remaining = list.filter(({ id }) => !dropped.has(id));
    const known = files.get(name) ?? [];
    const fresh = remaining.filter(({ id }) => known.every((file) => file.id !== id));
    if (fresh.length > 0) files.set(name, [...known, ...fresh]);
  }
  return {
    raw: restoreRows(form, raw, extra),
    files,
    controls: extra,
    step: getControlNumber(extra, '_step') ?? 0,
  };
}

/** Returns the chosen files as the server would list them, without their content. */
function chosenFiles(data: FormData): [name: string, files: FileAnswer[]][] {
  return [...data].flatMap(([name, value]): [string, FileAnswer[]][] => {
    // An empty file input posts one nameless file.
    if (typeof value === 'string' || (value.name === '' && value.size === 0)) return [];
    const { name: filename, size, type, lastModified } = value;
    const id = `${filename}-${size}-${lastModified}`;
    return [[name, [{ id, filename, size, content_type: type }]]];
  });
}

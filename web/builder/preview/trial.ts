import { type AnswerFiles, checkAnswers, type FileAnswer } from '#ast/answers.ts';
import { type RawAnswers, readFields } from '#ast/fields.ts';
import type { Form } from '#ast/tree.ts';
import type { FormView } from '#page/render.ts';
import { renderConfirmation, renderForm } from '#page/render.ts';
import { applyRowAction, readAction } from '#page/row-action.ts';
import { restoreRows } from '#page/rows.ts';
import { fileLimits } from '../canvas/page-markup.ts';

/** A form that is filled in for a test: what the server would answer, as whole pages, and nothing is stored. */
export type Trial = { page(): string; post(data: FormData): string };

type Posted = Pick<FormView, 'values' | 'errors'> & { readonly focus?: string | undefined };

export function startTrial(form: Form, confirmationMessage: string | undefined): Trial {
  const draw = ({ values, errors, focus }: Posted): string =>
    renderForm({
      form,
      action: '#',
      values,
      errors,
      held: new Map(),
      language: 'en',
      limits: fileLimits,
      focus,
    });
  return {
    page: () => draw({ values: {}, errors: [] }),
    post(data) {
      const entries = [...data].filter((entry): entry is [string, string] => typeof entry[1] === 'string');
      const { raw: sent, extra } = readFields(form, entries);
      const raw: RawAnswers = restoreRows(form, sent, extra);
      const action = readAction(extra);
      if (action.kind !== 'submit') {
        const changed = applyRowAction(action, raw, new Map());
        return draw({ values: changed.raw, errors: [], focus: changed.focus });
      }
      const result = checkAnswers(form, raw, filesIn(data));
      if (!result.ok) return draw({ values: raw, errors: result.errors });
      return renderConfirmation({
        formName: form.attrs.name,
        message: confirmationMessage,
        receipt: 'test, not stored',
        language: 'en',
      });
    },
  };
}

/** The chosen files as the server would know them; their content stays where it is. */
function filesIn(data: FormData): AnswerFiles {
  const files = new Map<string, FileAnswer[]>();
  for (const [name, value] of data) {
    // An empty file input posts one nameless file.
    if (typeof value === 'string' || (value.name === '' && value.size === 0)) continue;
    const file = { id: name, filename: value.name, size: value.size, content_type: value.type };
    files.set(name, [...(files.get(name) ?? []), file]);
  }
  return files;
}

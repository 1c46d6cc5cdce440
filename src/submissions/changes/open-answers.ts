import type { Answers, FileAnswer } from '#ast/answers.ts';
import { fieldName, type RawAnswers } from '#ast/fields.ts';
import { own } from '#ast/json.ts';
import type { Form } from '#ast/tree.ts';
import { uploadsIn } from './edited-answers.ts';

/** Answers as a page takes them to be changed: values as JSON, and files by their HTML name. */
export type OpenedAnswers = { raw: RawAnswers; files: ReadonlyMap<string, readonly FileAnswer[]> };

/** Opens stored answers; `form` is the version under which they were stored. */
export function openAnswers(form: Form, answers: Answers): OpenedAnswers {
  const raw: RawAnswers = structuredClone(answers);
  const files = new Map<string, readonly FileAnswer[]>();
  for (const { input, holder, row } of uploadsIn(form, raw)) {
    const held = own(holder, input.attrs.id) as readonly FileAnswer[] | undefined;
    if (held === undefined) continue;
    files.set(fieldName(input, row), held);
    Reflect.deleteProperty(holder, input.attrs.id);
  }
  return { raw, files };
}

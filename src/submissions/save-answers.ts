import { type AnswerFiles, type Answers, checkAnswers } from '#ast/answers/check-answers.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { parseGroupFieldName, type RawAnswers } from '#ast/form/fields.ts';
import { type Form, type FormNode, type InputElement, listQuestions } from '#ast/form/tree.ts';
import type { EvaluationContext } from '#ast/logic/evaluate.ts';
import { settingRows } from '#ast/settings-table.ts';
import { createEvaluationContext } from '#forms/live-form.ts';
import { now } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import { createOrExtendLink } from './links.ts';
import { isSubmissionKeyUsed } from './repeat.ts';
import { lockSavedAnswers, updateSavedAnswers, updateSubmissionFiles } from './saved-answers.ts';
import { insertRecord, prepareRecord, type SubmissionRecord, storedColumns } from './submission-record.ts';
import type { SubmitRequest, SubmitServices } from './submit-request.ts';

/**
 * The attributes that define the shape and visibility of an answer. All others are rules for submitted
 * answers, which saved answers need not meet yet.
 */
const keptAttributes = [
  'id',
  'name',
  'label',
  'options',
  'rows',
  'statement',
  'multiple',
  'other',
  'repeatable',
  'show_when',
  'hide_when',
  'jumps',
  'formula',
  'decimals',
] as const;

/**
 * After this many checks, whole groups of rows are dropped: each check lists a thousand problems, and there
 * may be more.
 */
const patience = 3;

/**
 * Returns the raw answers that can be saved before submission: answers to visible questions that have the
 * shape and size of an answer. Drops the others until no problem remains.
 */
function keepAnswers(form: Form, raw: unknown, files: AnswerFiles, context: EvaluationContext): Answers {
  const relaxed = withoutRules(form);
  const rest = knownAnswers(relaxed, raw);
  const restFiles = new Map(files);
  for (let round = 0; ; round += 1) {
    const checked = checkAnswers(relaxed, rest, restFiles, context);
    if (checked.ok) return checked.answers;
    const before = JSON.stringify(rest).length + restFiles.size;
    for (const { field } of checked.errors) {
      const [group = field] = field.split('[', 1);
      // The last of very many problems only says that there are more, without naming a question.
      if (checked.errors.length > 1 && field === 'answers') continue;
      restFiles.delete(field);
      drop(rest, round < patience ? field : group);
    }
    // If no problem can be located, everything is dropped, so that the loop ends.
    if (JSON.stringify(rest).length + restFiles.size === before) {
      restFiles.clear();
      for (const name of Object.keys(rest)) Reflect.deleteProperty(rest, name);
    }
  }
}

/**
 * Copies only the values of known questions. Otherwise the list of problems would name all the others, of
 * which there may be very many.
 */
function knownAnswers(form: Form, raw: unknown): RawAnswers {
  if (!isRecord(raw)) return {};
  const known: RawAnswers = {};
  for (const question of listQuestions(form)) {
    const { id } = question.element.attrs;
    const value = getProperty(raw, id);
    if (value === undefined) continue;
    const isGroup = question.kind === 'group' && Array.isArray(value) && value.length <= formLimits.rows;
    known[id] = structuredClone(
      isGroup ? value.map((row: unknown) => knownCells(question.inputs, row)) : value,
    );
  }
  return known;
}

const knownCells = (inputs: readonly InputElement[], row: unknown): unknown =>
  isRecord(row)
    ? Object.fromEntries(
        inputs.flatMap(({ attrs }) => {
          const value = getProperty(row, attrs.id);
          return value === undefined ? [] : [[attrs.id, value]];
        }),
      )
    : row;

/**
 * Removes what an error names: `id`, `group[0]` or `group[0][child]`. Rows are emptied instead, so that the
 * others keep their number.
 */
function drop(raw: RawAnswers, field: string): void {
  if (Object.hasOwn(raw, field)) {
    Reflect.deleteProperty(raw, field);
    return;
  }
  const part = parseGroupFieldName(field);
  const [, group, index] = /^([^[\]]+)\[(\d{1,3})\]/.exec(field) ?? [];
  const rows = group !== undefined && Object.hasOwn(raw, group) ? raw[group] : undefined;
  if (!Array.isArray(rows)) return;
  const row: unknown = rows[Number(index)];
  if (part && isRecord(row) && Object.hasOwn(row, part.id)) Reflect.deleteProperty(row, part.id);
  else rows[Number(index)] = {};
}

function withoutRules<Node extends FormNode>(node: Node): Node {
  const attrs = Object.entries(node.attrs ?? {}).filter(([name]) =>
    keptAttributes.some((kept) => kept === name),
  );
  return {
    ...node,
    ...(node.attrs && { attrs: Object.fromEntries(attrs) }),
    ...(node.children && { children: node.children.map((child) => withoutRules(child)) }),
  };
}

/** Answers to save. `step` is the visitor's current step, counted from 0. */
type SaveRequest = SubmitRequest & { key: string; step: number };

/** The visitor resumes at `/f/<form>/resume/<resumeToken>`, until `expiresAt`. */
export type SavedAnswers = { id: string; resumeToken: string; expiresAt: Date };

/**
 * Saves answers that are not submitted yet, as the only submission with the status `incomplete` under the
 * key: another save replaces it, and submitting completes it. Answers without the shape or size of an answer
 * are left out (see keepAnswers). No event is recorded. Files are claimed, so that they are not swept, and
 * are released when no answer names them.
 * @throws ApiError forbidden if the form does not save answers; conflict if the key was submitted or a file
 * was used; not_found.
 */
export async function saveAnswers(context: SubmitServices, request: SaveRequest): Promise<SavedAnswers> {
  const { live, key, step } = request;
  if (!live.settings.save_progress)
    throw new ApiError('forbidden', 'This form does not support saving answers.');
  const rules = createEvaluationContext(live.settings, request.reference, request.work);
  const answers = keepAnswers(live.form, request.raw, request.files, rules);
  const record = prepareRecord(request, answers);
  const saved = await transaction(context.database, async (client) => {
    const id = await write(client, record, key);
    if (id === undefined) return undefined;
    await updateSubmissionFiles(client, { ...record, id });
    const { token, expiresAt } = await createOrExtendLink(
      client,
      context.vault,
      { workspaceId: live.workspaceId, formId: live.id, submissionId: id },
      { purpose: 'resume', days: live.settings.resume_days ?? settingRows.resume_days.default, step },
    );
    return { id, resumeToken: token, expiresAt };
  });
  if (saved) return saved;
  if (!(await isSubmissionKeyUsed(context.database, live, key)))
    throw new ApiError('not_found', 'There is no form at this address.');
  throw new ApiError('conflict', 'These answers have already been submitted.');
}

/** @returns the id of the saved answers; undefined if the key was submitted or the form is deleted. */
async function write(db: Queryable, record: SubmissionRecord, key: string): Promise<string | undefined> {
  const { live } = record;
  if (await insertRecord(db, record, 'incomplete')) return record.id;
  const [saved] = await lockSavedAnswers(db, { workspace_id: live.workspaceId, form_id: live.id, key });
  if (!saved) return undefined;
  await updateSavedAnswers(db, {
    ...storedColumns(record),
    id: saved.id,
    status: 'incomplete',
    key_digest: null,
    now: now(),
    completed_at: null,
  });
  return saved.id;
}

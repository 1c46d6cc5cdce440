import { Type } from 'typebox';
import { getProperty, isRecord, jsonStorageProblem } from '#ast/basics/json.ts';
import type { ProblemCode } from '#ast/basics/problems.ts';
import type { ErrorItem } from '#kit/errors.ts';
import type { StatementColumn } from '#kit/statement.ts';
import { Event } from './event.ts';

/** A JSON object or array with placeholders in its texts, or the same as JSON text, as the author wrote it. */
export type Template = string | object;

export const templateSchema = Type.Unsafe<Template>({
  anyOf: [{ type: 'object' }, { type: 'array' }, { type: 'string' }],
});

export const templateColumn: StatementColumn<Template> = { pg: 'json' };

/** The maximum size of a template, in bytes. */
const templateBytes = 16_384;
const mostPlaceholders = 100;
/** The characters that all placeholders of a body can add. A template could repeat a large answer 100 times. */
const mostInserted = 1_000_000;

const placeholder = /\{\{([^{}]*)\}\}/g;
/** Also a placeholder without its closing braces, which is refused. */
const openedPlaceholder = /\{\{(?!\{)([^{}]*)(\}\})?/g;
const onlyPlaceholder = /^\{\{([^{}]*)\}\}$/;

/** Returns the object or array of a template, or undefined if it is not one. */
function parseTemplate(template: unknown): object | undefined {
  try {
    const parsed: unknown = typeof template === 'string' ? JSON.parse(template) : template;
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the template with every text replaced. `field` is the location of a text: `template.blocks.0.text`. */
function mapTexts(value: unknown, field: string, map: (text: string, field: string) => unknown): unknown {
  if (typeof value === 'string') return map(value, field);
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, `${field}.${index}`, map));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, `${field}.${key}`, map)]),
  );
}

/** Returns whether a path such as `submission.responses.email` is in the schema of an event. */
function isEventPath([name, ...rest]: readonly string[], schema: object = Event): boolean {
  if (name === undefined) return true;
  const { properties, type } = schema as { properties?: Record<string, object>; type?: string };
  const part = properties && getProperty(properties, name);
  // A record, such as the answers, has any name.
  return properties ? part !== undefined && isEventPath(rest, part) : type === 'object' && rest.length === 0;
}

/**
 * Returns the problems of a template.
 * @param elements the ids of the form's questions; undefined for a webhook of the whole workspace.
 */
export function templateProblems(template: unknown, elements: ReadonlySet<string> | undefined): ErrorItem[] {
  const complain = (message: string, code: ProblemCode, field = 'template'): ErrorItem => ({
    field,
    message,
    code,
  });
  const text = typeof template === 'string' ? template : JSON.stringify(template);
  if (Buffer.byteLength(text) > templateBytes)
    return [complain(`The template must be at most ${templateBytes / 1_024} KB.`, 'too_long')];
  const parsed = parseTemplate(template);
  if (!parsed) return [complain('The template must be a JSON object or array.', 'invalid_format')];
  const unstorable = jsonStorageProblem(parsed, { values: 0, markup: 0 });
  if (unstorable !== undefined) return [complain(`The template ${unstorable}.`, 'not_storable')];
  let isInKey = false;
  JSON.stringify(parsed, (key, value: unknown) => {
    isInKey ||= key.search(placeholder) >= 0;
    return value;
  });
  if (isInKey) return [complain('Placeholders can only be in values, not in keys.', 'not_allowed')];
  const isKnown = (name: string): boolean => {
    const [root, part, id, ...rest] = name.split('.');
    const isAnswer = root === 'submission' && (part === 'responses' || part === 'file_uploads');
    if (isAnswer && id !== undefined && elements) return rest.length === 0 && elements.has(id);
    const isOfMessage = ['form_name', 'submission_url', 'answers'].includes(name);
    return isOfMessage || isEventPath(name.split('.')) || !!elements?.has(name);
  };
  const hint = elements
    ? 'Use the ID of a question, form_name, submission_url, answers, or a path of the event, such as submission.id.'
    : 'A webhook of the workspace has no questions of its own. Use form_name, submission_url, answers, or a path of the event, such as submission.responses.email.';
  const problems: ErrorItem[] = [];
  let count = 0;
  mapTexts(parsed, 'template', (written, field) => {
    for (const [all, inner, end] of written.matchAll(openedPlaceholder)) {
      count += 1;
      if (!end || !isKnown(inner!.trim()))
        problems.push(complain(`“${all}” is not a known placeholder. ${hint}`, 'invalid_reference', field));
    }
  });
  if (count > mostPlaceholders)
    return [complain(`A template can have at most ${mostPlaceholders} placeholders.`, 'too_many')];
  return problems;
}

/** The value of a placeholder: as JSON, if it is the whole text, or as part of a text. */
export type PlaceholderValue = { json: unknown; text: string };

/**
 * Returns the JSON text of a template with its placeholders filled. Placeholders inside inserted answers are not
 * filled. A value that exceeds the limit of a body is left out.
 */
export function renderTemplate(template: Template, valueOf: (name: string) => PlaceholderValue): string {
  let left = mostInserted;
  const insert = (name: string, isWhole: boolean): unknown => {
    if (left < 0) return isWhole ? null : '…';
    const { json, text } = valueOf(name.trim());
    left -= isWhole ? JSON.stringify(json).length : text.length;
    if (left < 0) return insert(name, isWhole);
    return isWhole ? json : text;
  };
  const render = (text: string): unknown => {
    const [, whole] = onlyPlaceholder.exec(text) ?? [];
    if (whole !== undefined) return insert(whole, true);
    return text.replaceAll(placeholder, (_all, name: string) => String(insert(name, false)));
  };
  return JSON.stringify(mapTexts(parseTemplate(template), '', render));
}

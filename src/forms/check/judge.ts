import { checkSettings, type Settings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { bareItem, type ErrorItem } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import { findMissingImages } from '../images/images.ts';
import type { Judgement } from '../shapes.ts';
import { findSlips } from './find-slips.ts';
import { findWarnings } from './lint.ts';

/** As many as problems of a structure are told (ast/limits.ts). */
const mostWarnings = 100;

/** A form as it may be stored, and its settings where they are sent; neither is checked. */
export type Candidate = { readonly structure: unknown; readonly settings?: unknown };

/**
 * Everything that storing a form would be refused for, at once, of its structure and of its settings, and
 * what is probably a slip. Without problems also what makes the form hard to fill in. Stores nothing.
 */
export async function judgeForm(
  db: Queryable,
  workspaceId: string,
  { structure, settings }: Candidate,
): Promise<Judgement> {
  const checked = validateStructure(structure);
  const problems: ErrorItem[] = checked.ok
    ? []
    : checked.errors.map((error) => ({ ...error, path: [...error.path] }));
  let known: Settings | undefined;
  if (settings !== undefined) {
    const read = checkSettings(settings, checked.ok ? checked.form : undefined);
    if (!read.ok) problems.push(...read.errors);
    else known = read.settings;
  }
  const form = checked.ok ? checked.form : undefined;
  problems.push(...(await findMissingImages(db, workspaceId, { settings: known, form })));
  // A misspelt name is often the reason for a problem, so slips are also told beside problems.
  const slips = findSlips(structure);
  const others = checked.ok && problems.length === 0 ? findWarnings(checked.form, known) : [];
  return { problems: problems.map(bareItem), warnings: [...slips, ...others].slice(0, mostWarnings) };
}

import { effectiveForm } from '#ast/effective-form.ts';
import type { Queryable } from '#kit/statement.ts';
import type { Scope } from '#kit/operation.ts';
import type { Permission } from '#rules/permissions.ts';
import { requireForm } from '../require-form.ts';
import type { DryRun } from '../shapes.ts';
import { findImpact } from './impact.ts';
import { type Candidate, judgeForm } from './judge.ts';

/**
 * What a change of a form would be refused for, what is not good in it, and what it would take away from visitors of what
 * is live. Stores nothing.
 * @throws ApiError not_found.
 */
export async function dryRun(
  db: Queryable,
  scope: Pick<Scope, 'workspaceId' | 'may'> & { formId: string },
  candidate: Candidate,
): Promise<DryRun> {
  const { workspaceId, formId } = scope;
  const { structure } = await requireForm(db, { workspaceId, formId });
  // It was validated when it became the live version.
  const live = { workspaceId, formId, form: effectiveForm(structure) };
  const needed: Permission = 'submissions:read';
  const [judgement, impact] = await Promise.all([
    judgeForm(db, workspaceId, candidate),
    findImpact(db, live, candidate.structure, scope.may(needed)),
  ]);
  return { ...judgement, ...impact };
}

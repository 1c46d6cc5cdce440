import { ApiError } from '#kit/errors.ts';

/** The only forms that a request reaches, with their submissions; null: all of the workspace (Caller.formIds). */
export type Reach = readonly string[] | null;

/**
 * Lets a request through to a form, or to a submission of it. What a key does not reach is for it as if it were absent.
 * @throws ApiError not_found.
 */
export function requireReach(reach: Reach, formId: string): void {
  if (reach !== null && !reach.includes(formId.toLowerCase())) throw new ApiError('not_found');
}

/**
 * Lets a request through to what belongs to no form in particular.
 * @throws ApiError forbidden for a key that is limited to certain forms.
 */
export function requireWholeWorkspace(reach: Reach): void {
  if (reach !== null)
    throw new ApiError('forbidden', 'This API key is limited to certain forms, and so may not do this.');
}

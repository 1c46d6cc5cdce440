import { type Static, Type } from 'typebox';
import { isRecord, own } from '#ast/json.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';

/** `readOnly`: generators, the command line and MCP do not offer it in requests. */
const ignored = (description: string) => Type.Optional(Type.Unsafe<unknown>({ readOnly: true, description }));
const fromReading = ignored('Ignored, so that an object which the API returned can be sent back.');

/**
 * The properties of a form that the API returns and that no request changes: a client may read a form, change
 * its structure and send the whole object back. Any other unknown property stays an error.
 */
export const returnedProperties = {
  id: ignored('Ignored in Create form. In Update form it must be the id in the path.'),
  workspace_id: ignored('Must be the workspace of the API key.'),
  name: ignored('Must equal `structure.attrs.name`.'),
  description: ignored('Must equal `structure.attrs.description`; empty or null if the form has none.'),
  submission_count: fromReading,
  public_url: fromReading,
  builder_url: fromReading,
  created_at: fromReading,
  updated_at: fromReading,
  published_at: fromReading,
  last_submission_at: fromReading,
  last_activity_at: fromReading,
};

type Returned = Static<ReturnType<typeof Type.Object<typeof returnedProperties>>>;

/**
 * Checks that a body which repeats what the API returned means the same form.
 * @param expected.id the id in the path; undefined when a form is created.
 * @throws ApiError validation_error naming each property that says something else.
 */
export function requireSameForm(
  body: Returned & { readonly structure: unknown },
  expected: { readonly id?: string; readonly workspaceId: string },
): void {
  const attrs = isRecord(body.structure) ? own(body.structure, 'attrs') : undefined;
  const attribute = (name: string): unknown => (isRecord(attrs) ? own(attrs, name) : undefined);
  const errors: ErrorItem[] = [];
  const compare = (field: keyof Returned, isSame: boolean, message: string): void => {
    if (body[field] !== undefined && !isSame) errors.push({ field, message, code: 'mismatch' });
  };
  const isId = (given: unknown, id: string): boolean =>
    typeof given === 'string' && given.toLowerCase() === id.toLowerCase();
  if (expected.id !== undefined)
    compare('id', isId(body.id, expected.id), '"id" must be the id in the path, or be left out.');
  compare(
    'workspace_id',
    isId(body.workspace_id, expected.workspaceId),
    '"workspace_id" must be the workspace of the API key, or be left out.',
  );
  compare(
    'name',
    body.name === attribute('name'),
    '"name" must equal "name" in structure.attrs, or be left out. Change it there to rename the form.',
  );
  compare(
    'description',
    (body.description ?? '') === (attribute('description') ?? ''),
    '"description" must equal "description" in structure.attrs, or be left out. Change it there.',
  );
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
}

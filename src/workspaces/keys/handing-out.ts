import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import { dataPermissions } from '#rules/permissions.ts';

/** Who grants. `expiresAt`: when their own key ends; null for a person and for a key that does not expire. */
type Granter = Pick<Scope, 'may' | 'formIds'> & { expiresAt: Date | null };

/**
 * What a key may do and reach, and until when, as far as a request names it; null: everything with data, every form,
 * without an end.
 */
type Grant = {
  permissions?: readonly string[] | null | undefined;
  formIds?: readonly string[] | null | undefined;
  expiresAt?: Date | null | undefined;
};

/**
 * A caller grants no key what they lack themselves: permissions, forms, or time. Before a key is changed or rotated, the
 * caller must hold all that it has: otherwise they could narrow it, rotate it for its secret, and wait until somebody
 * gives its permissions back.
 * @throws ApiError forbidden, naming what the caller lacks.
 */
export function requireGrantable(
  { may, formIds: own, expiresAt: ownEnd }: Granter,
  { permissions, formIds, expiresAt }: Grant,
): void {
  const given = permissions === null ? dataPermissions : (permissions ?? []);
  const lacking = given.filter((permission) => !may(permission));
  if (lacking.length > 0)
    throw new ApiError('forbidden', `You may not give what you may not do yourself: ${lacking.join(', ')}.`);
  if (formIds !== undefined && !isWithin(own, formIds))
    throw new ApiError('forbidden', 'You may not give forms that you do not reach yourself.');
  if (ownEnd !== null && expiresAt !== undefined && (expiresAt === null || expiresAt > ownEnd))
    throw new ApiError(
      'forbidden',
      `The key would outlive your own, which expires at ${ownEnd.toISOString()}. Give it an "expires_at" no later than that.`,
    );
}

/** Whether a caller who reaches `own` reaches all of these forms; null: all of the workspace. */
export const isWithin = (own: readonly string[] | null, formIds: readonly string[] | null): boolean =>
  own === null || (formIds !== null && formIds.every((id) => own.includes(id.toLowerCase())));

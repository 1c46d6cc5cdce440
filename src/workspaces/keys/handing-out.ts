import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import { dataPermissions } from '../permissions.ts';

/** What a key may do and reach, as far as it is said; null: everything with data, every form. */
type Grant = {
  permissions?: readonly string[] | null | undefined;
  formIds?: readonly string[] | null | undefined;
};

/**
 * Nobody hands out by a key what they may not do themselves: its secret is theirs to use.
 * @throws ApiError forbidden, naming what the caller lacks.
 */
export function requireGrantable(
  { may, formIds: own }: Pick<Scope, 'may' | 'formIds'>,
  { permissions, formIds }: Grant,
): void {
  const given = permissions === null ? dataPermissions : (permissions ?? []);
  const lacking = given.filter((permission) => !may(permission));
  if (lacking.length > 0)
    throw new ApiError('forbidden', `You may not give what you may not do yourself: ${lacking.join(', ')}.`);
  if (formIds !== undefined && !isWithin(own, formIds))
    throw new ApiError('forbidden', 'You may not give forms that you do not reach yourself.');
}

/** Whether a caller who reaches `own` reaches all of these forms; null: all of the workspace. */
export const isWithin = (own: readonly string[] | null, formIds: readonly string[] | null): boolean =>
  own === null || (formIds !== null && formIds.every((id) => own.includes(id.toLowerCase())));

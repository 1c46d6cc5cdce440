import { queryOptions } from '@tanstack/react-query';
import type { SecondFactors } from '#console/accounts/shapes.ts';
import { callOwn } from '../../api/operations.ts';

/** What the person has to sign in with beside the password. */
export const secondFactorsQuery = queryOptions({
  queryKey: ['second-factors'],
  queryFn: () => callOwn('readSecondFactors', {}),
});

/** Whether a sign-in takes two steps. */
export const hasFactor = ({ totp_since, passkeys }: SecondFactors): boolean =>
  totp_since !== null || passkeys.length > 0;

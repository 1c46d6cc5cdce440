import { queryOptions } from '@tanstack/react-query';
import { callOwn } from '../../api/operations.ts';

/** What the person has to sign in with beside the password. */
export const secondFactorsQuery = queryOptions({
  queryKey: ['second-factors'],
  queryFn: () => callOwn('readSecondFactors', {}),
});

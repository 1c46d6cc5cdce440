import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { TextField } from '../../design/field.tsx';
import { secondFactorsQuery } from './second-factors.ts';

/** The password again; of who signs in by a provider alone, and so has none, a sign-in of the last minutes. */
export function OwnPassword({
  value,
  onChange,
  error,
  autoFocus = false,
}: {
  value: string;
  onChange: (password: string) => void;
  error: string | undefined;
  autoFocus?: boolean;
}): ReactElement {
  const { data } = useQuery(secondFactorsQuery);
  if (data?.has_password === false)
    return (
      <p className="soft small">You have no password here: this takes a sign-in of the last ten minutes.</p>
    );
  return (
    <TextField
      label="Your password"
      type="password"
      autoComplete="current-password"
      autoFocus={autoFocus}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}

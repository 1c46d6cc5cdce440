import { Link } from '@tanstack/react-router';
import type { ReactElement, ReactNode } from 'react';
import { useForm } from '../../shell/form-place.ts';
import { useViewState, type ViewState } from '../view-state.ts';

/** What narrows the table that a link leads to. */
export type Narrowed = Partial<Pick<ViewState, 'status' | 'from' | 'to' | 'where' | 'open'>>;

/** A link to the submissions that something of the summary counts, of the days that it is of. */
export function SubmissionsLink({
  narrowed,
  className,
  isDoubled = false,
  children,
}: {
  narrowed: Narrowed;
  className?: string;
  /** The same link stands in the table below: it is none for the keyboard. */
  isDoubled?: boolean;
  children: ReactNode;
}): ReactElement {
  const form = useForm();
  const [{ from, to }] = useViewState();
  const search = { ...(from !== undefined && { from }), ...(to !== undefined && { to }), ...narrowed };
  return (
    <Link
      to="/forms/$form/submissions"
      params={{ form: form.id }}
      search={search}
      {...(className !== undefined && { className })}
      {...(isDoubled && { tabIndex: -1 })}
    >
      {children}
    </Link>
  );
}

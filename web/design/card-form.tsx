import type { ReactElement, ReactNode } from 'react';
import { Button } from './button.tsx';
import { Form } from './form.tsx';
import { Message } from './message.tsx';

/** A short form of its own within a screen: fields, what is wrong with all of it, and the button that saves it. */
export function CardForm({
  label,
  isMain = false,
  isPending,
  error,
  onSubmit,
  children,
}: {
  /** On the button; without one nothing can be saved. */
  label: string | undefined;
  /** It is what its screen is for. */
  isMain?: boolean;
  isPending: boolean;
  /** What no field says. */
  error: string | undefined;
  onSubmit: () => void;
  children: ReactNode;
}): ReactElement {
  return (
    <Form className="stack" isPending={isPending} onSubmit={onSubmit}>
      {children}
      {error !== undefined && <Message tone="bad">{error}</Message>}
      {label !== undefined && (
        <div className="row">
          <Button type="submit" variant={isMain ? 'primary' : 'secondary'} isPending={isPending}>
            {label}
          </Button>
        </div>
      )}
    </Form>
  );
}

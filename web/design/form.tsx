import { type ComponentProps, type ReactElement, useRef } from 'react';
import { FormContext } from 'react-aria-components/Form';

type Props = Omit<ComponentProps<'form'>, 'onSubmit' | 'noValidate'> & {
  onSubmit: () => void;
  /** Whether the request of the last submit is still running: until it ends, submitting again does nothing. */
  isPending: boolean;
  /** native: the browser reports invalid fields and stops the submit. aria: the fields report them themselves. */
  validationBehavior?: 'native' | 'aria';
};

/**
 * A form that Enter or a submit button sends, without leaving the page.
 *
 * A dialog may hold a form and stand in the React tree of another form. Its submit must not reach the outer form: React
 * events bubble through portals, and the Form of react-aria-components also hands its own `onSubmit` down by context. So
 * this one stops the event, and hands down nothing but how fields are validated.
 */
export function Form({
  onSubmit,
  isPending,
  validationBehavior = 'aria',
  children,
  ...form
}: Props): ReactElement {
  const isLocked = useRef(false);
  return (
    <form
      {...form}
      noValidate={validationBehavior === 'aria'}
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation();
        if (isPending || isLocked.current) return;
        // `isPending` is true only after the next render, and a second submit can come before it.
        isLocked.current = true;
        setTimeout(() => (isLocked.current = false));
        onSubmit();
      }}
    >
      <FormContext value={{ validationBehavior }}>{children}</FormContext>
    </form>
  );
}

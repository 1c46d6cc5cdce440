import { type ComponentProps, type ReactElement, useRef } from 'react';
import { FormContext } from 'react-aria-components/Form';

type Props = Omit<ComponentProps<'form'>, 'onSubmit' | 'noValidate'> & {
  onSubmit: () => void;
  /** Whether the last request is still running. Until it ends, submitting again does nothing. */
  isPending: boolean;
  /** native: the browser reports invalid fields and stops the submit. aria: the fields report them themselves. */
  validationBehavior?: 'native' | 'aria';
};

/**
 * A form that is submitted by Enter or a submit button without leaving the page.
 *
 * A dialog may contain a form and be inside another form in the React tree. React events bubble through
 * portals, and the Form of react-aria-components passes its `onSubmit` down by context. Therefore, this form
 * stops the event and passes down only how fields are validated.
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
        // `isPending` becomes true only on the next render, and a second submit can happen before it.
        isLocked.current = true;
        setTimeout(() => (isLocked.current = false));
        onSubmit();
      }}
    >
      <FormContext value={{ validationBehavior }}>{children}</FormContext>
    </form>
  );
}

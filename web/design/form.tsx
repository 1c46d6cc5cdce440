import type { ReactElement, Ref } from 'react';
import { Form as AriaForm, type FormProps } from 'react-aria-components/Form';

type Props = Omit<FormProps, 'onSubmit'> & { onSubmit: () => void; ref?: Ref<HTMLFormElement> };

/** Fields that Enter or a button sends. What is wrong the fields say, not the browser, and the page stays. */
export const Form = ({ onSubmit, ...form }: Props): ReactElement => (
  <AriaForm
    validationBehavior="aria"
    {...form}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  />
);

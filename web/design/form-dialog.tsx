import { type ComponentProps, type ReactElement, type ReactNode, useState } from 'react';
import { isConcurrentChangeError } from '../api/client.ts';
import type { Action } from './action.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import type { IconName } from './icon.tsx';
import { ConcurrentChangeMessage, Message, SaveState } from './message.tsx';
import { Select, type SelectChoice } from './select.tsx';

/**
 * A dialog with fields. Enter or the last button submits it. An error that belongs to no field is shown below
 * the fields.
 */
export function FormDialog({
  action,
  submitLabel,
  submitIcon,
  isDanger = false,
  isDisabled = false,
  isPending = action?.isPending ?? false,
  error = action?.unlocated,
  onClose,
  children,
  ...dialog
}: {
  title: string;
  description?: ReactNode;
  size?: 'small' | 'medium';
  isOpen?: boolean;
  onClose: () => void;
  onSubmit: () => void;
  /** The action that the dialog submits to. */
  action?: Pick<Action, 'error' | 'isPending' | 'unlocated'>;
  submitLabel: string;
  submitIcon?: IconName;
  /** Whether the action removes something permanently. */
  isDanger?: boolean;
  /** Whether there is nothing to submit. */
  isDisabled?: boolean;
  isPending?: boolean;
  error?: string | undefined;
  children: ReactNode;
}): ReactElement {
  return (
    <Dialog
      {...dialog}
      isPending={isPending}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant={isDanger ? 'danger' : 'primary'}
            icon={submitIcon}
            isDisabled={isDisabled}
            isPending={isPending}
          >
            {submitLabel}
          </Button>
        </>
      }
    >
      {children}
      {isConcurrentChangeError(action?.error) ? (
        <ConcurrentChangeMessage error={action.error} onDiscard={onClose} />
      ) : (
        error !== undefined && <Message tone="bad">{error}</Message>
      )}
    </Dialog>
  );
}

type Values = Readonly<Record<string, string>>;
type TextSpec = Omit<ComponentProps<typeof TextField>, 'value' | 'onChange' | 'error'>;
type ChoiceSpec<Id extends string> = {
  label: string;
  description?: string;
  choices: readonly SelectChoice<Id>[];
};

/** The fields of a form, in display order, under the names that the operation uses. */
export type FieldSpecs<Given extends Values> = {
  readonly [Name in keyof Given]: TextSpec | ChoiceSpec<Given[Name]>;
};

type FieldsProps<Given extends Values> = {
  fields: FieldSpecs<Given>;
  values: Given;
  onChange: (values: Given) => void;
  /** The action whose errors are shown at the fields. */
  action: Pick<Action, 'of'>;
};

export function Fields<Given extends Values>({
  fields,
  values,
  onChange,
  action,
}: FieldsProps<Given>): ReactElement[] {
  return Object.keys(fields).map((name) => {
    const spec = fields[name]!;
    const field = {
      value: values[name]!,
      onChange: (value: string) => onChange({ ...values, [name]: value }),
      error: action.of(name),
    };
    return 'choices' in spec ? (
      <Select<string> key={name} {...spec} {...field} />
    ) : (
      <TextField key={name} {...spec} {...field} />
    );
  });
}

type FormProps<Given extends Values> = {
  fields: FieldSpecs<NoInfer<Given>>;
  /** The initial values. */
  begin: NoInfer<Given>;
  action: Action<Given>;
};

/** A dialog whose fields are defined as data. */
export function FieldsDialog<Given extends Values>({
  fields,
  begin,
  action,
  children,
  ...dialog
}: FormProps<Given> &
  Omit<ComponentProps<typeof FormDialog>, 'action' | 'onSubmit' | 'isOpen' | 'children'> & {
    /** Rendered above the fields. */
    children?: ReactNode;
  }): ReactElement {
  const [values, setValues] = useState(begin);
  return (
    <FormDialog {...dialog} action={action} onSubmit={() => action.mutate(values)}>
      {children}
      <Fields fields={fields} values={values} onChange={setValues} action={action} />
    </FormDialog>
  );
}

type CardFormProps = {
  /** The label of the button. If it is undefined, nothing can be saved. */
  label: string | undefined;
  /** Whether this form is the main purpose of the screen. */
  isMain?: boolean;
  action: CardAction;
  onSubmit: () => void;
  children: ReactNode;
};

type CardAction = Pick<Action, 'isPending' | 'isSuccess' | 'isError' | 'unlocated' | 'reset'>;

/** Shows whether the fields of a card are saved. Empty before the first save and after an edit. */
function CardSaveState({ action }: { action: CardAction }): ReactElement {
  const { isPending, isSuccess, isError, unlocated = 'correct the fields above.' } = action;
  if (isPending) return <SaveState kind="saving" text="Saving…" />;
  if (isError) return <SaveState kind="error" text={`Not saved: ${unlocated}`} />;
  return <SaveState kind="saved" text={isSuccess ? 'Saved' : ''} />;
}

/** A short form in a card: fields, a save button, and whether they are saved. */
export function CardForm({ label, isMain = false, action, onSubmit, children }: CardFormProps): ReactElement {
  return (
    <Form
      className="stack"
      isPending={action.isPending}
      onSubmit={onSubmit}
      // "Saved" goes with the next edit.
      onInput={() => action.isSuccess && action.reset()}
    >
      {children}
      {label !== undefined && (
        <div className="row">
          <Button type="submit" variant={isMain ? 'primary' : 'secondary'} isPending={action.isPending}>
            {label}
          </Button>
          <CardSaveState action={action} />
        </div>
      )}
    </Form>
  );
}

/** A short form in a card whose fields are defined as data. */
export function FieldsForm<Given extends Values>({
  fields,
  begin,
  action,
  isCleared = false,
  children,
  ...form
}: FormProps<Given> &
  Pick<CardFormProps, 'label' | 'isMain'> & {
    /** Whether the fields are reset after saving. */
    isCleared?: boolean;
    /** Rendered below the fields. */
    children?: ReactNode;
  }): ReactElement {
  const [values, setValues] = useState(begin);
  const submit = (): void =>
    action.mutate(values, { onSuccess: () => (isCleared ? setValues(begin) : undefined) });
  return (
    <CardForm {...form} action={action} onSubmit={submit}>
      <Fields fields={fields} values={values} onChange={setValues} action={action} />
      {children}
    </CardForm>
  );
}

import './field.css';
import { type ReactElement, type ReactNode, type Ref, useRef, useState } from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import {
  SearchField as AriaSearchField,
  type SearchFieldProps as AriaSearchFieldProps,
} from 'react-aria-components/SearchField';
import { Text } from 'react-aria-components/Text';
import { TextArea as AriaTextArea } from 'react-aria-components/TextArea';
import {
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
} from 'react-aria-components/TextField';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';

/** What every field of a form has around its control. `error` makes the field invalid, and is read with it. */
export type FieldProps = {
  label: ReactNode;
  /** Says what is expected, before anybody errs. */
  description?: ReactNode;
  error?: string | undefined;
};

type TextFieldProps = Omit<AriaTextFieldProps, 'children' | 'className' | 'isInvalid'> &
  FieldProps & {
    placeholder?: string;
    inputRef?: Ref<HTMLInputElement>;
    className?: string;
    /** The id of a datalist with what is suggested. */
    list?: string;
  };

/** One line of text, or a date or time in the browser's own control. */
export function TextField(props: TextFieldProps): ReactElement {
  return props.type !== undefined && props.type in lastMoments ? (
    <MomentField {...props} />
  ) : (
    <LineField {...props} />
  );
}

/**
 * What a browser cannot read yet, such as half a date, it gives to nobody: it stays in the control with a sentence, and
 * the value stays what it was. A form with it is not sent (unread.ts).
 */
function MomentField({ value = '', onChange, error, ...rest }: TextFieldProps): ReactElement {
  const control = useRef<HTMLInputElement>(null);
  const [unread, setUnread] = useState<{ beside: string } | undefined>();
  // Undo and other editors change the value behind the control; then what was typed is over.
  const isUnread = unread?.beside === value;
  const take = (text: string): void => {
    const isBad = control.current?.validity.badInput === true;
    setUnread(isBad ? { beside: value } : undefined);
    if (!isBad && text !== value) onChange?.(text);
  };
  return (
    <LineField
      {...rest}
      inputRef={control}
      value={isUnread ? '' : value}
      onChange={take}
      // A control that was half full tells nobody that it became empty, or that it was left.
      onBlur={() => take(control.current?.value ?? value)}
      error={isUnread ? 'Only a part of this can be read. Complete it, or clear it.' : error}
    />
  );
}

function LineField({
  label,
  description,
  error,
  placeholder,
  inputRef,
  className = '',
  list,
  ...rest
}: TextFieldProps): ReactElement {
  return (
    <AriaTextField
      {...rest}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className={`field ${className}`}
    >
      <Label className="field-label">{label}</Label>
      <FieldNotes description={description} />
      <Input
        ref={inputRef}
        placeholder={placeholder}
        list={list}
        className="field-input"
        max={rest.type === undefined ? undefined : lastMoments[rest.type]}
      />
      <FieldProblem error={error} />
    </AriaTextField>
  );
}

/** Years of four digits: browsers take six unless they are told, and a day of such a year is none to `Date`. */
const lastMoments: Readonly<Record<string, string | undefined>> = {
  date: '9999-12-31',
  'datetime-local': '9999-12-31T23:59',
  time: undefined,
};

type TextAreaProps = Omit<AriaTextFieldProps, 'children' | 'className' | 'isInvalid'> &
  FieldProps & {
    placeholder?: string;
    rows?: number;
    inputRef?: Ref<HTMLTextAreaElement>;
    className?: string;
  };

/** Several lines of text; grows with what is in it. */
export function TextArea({
  label,
  description,
  error,
  placeholder,
  rows = 3,
  inputRef,
  className = '',
  ...rest
}: TextAreaProps): ReactElement {
  return (
    <AriaTextField
      {...rest}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className={`field ${className}`}
    >
      <Label className="field-label">{label}</Label>
      <FieldNotes description={description} />
      <AriaTextArea ref={inputRef} rows={rows} placeholder={placeholder} className="field-input field-area" />
      <FieldProblem error={error} />
    </AriaTextField>
  );
}

type SearchFieldProps = Omit<AriaSearchFieldProps, 'children' | 'className'> & {
  label: string;
  placeholder?: string;
  inputRef?: Ref<HTMLInputElement>;
};

/** A search box: its label is spoken, not seen; Escape empties it. */
export function SearchField({ label, placeholder, inputRef, ...rest }: SearchFieldProps): ReactElement {
  return (
    <AriaSearchField {...rest} aria-label={label} className="field search-field">
      {({ isEmpty }) => (
        <>
          <Icon name="search" />
          <Input ref={inputRef} placeholder={placeholder ?? label} className="field-input" />
          {!isEmpty && <IconButton icon="close" label="Clear the search" size="small" />}
        </>
      )}
    </AriaSearchField>
  );
}

/** For fields built on other react-aria controls: the text under the label. */
export function FieldNotes({ description }: Pick<FieldProps, 'description'>): ReactElement | null {
  if (!description) return null;
  return (
    <Text slot="description" className="field-description">
      {description}
    </Text>
  );
}

/** For fields built on other react-aria controls: what is wrong, below the control. */
export function FieldProblem({ error }: Pick<FieldProps, 'error'>): ReactElement {
  return <FieldError className="field-error">{error}</FieldError>;
}

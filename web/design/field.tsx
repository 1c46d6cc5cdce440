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

/** Props of every form field. `error` marks the field as invalid and is read by screen readers. */
export type FieldProps = {
  label: ReactNode;
  /** Says what to enter. */
  description?: ReactNode;
  error?: string | undefined;
};

type TextFieldProps = Omit<AriaTextFieldProps, 'children' | 'className' | 'isInvalid'> &
  FieldProps & {
    placeholder?: string;
    inputRef?: Ref<HTMLInputElement>;
    className?: string;
    /** The ID of a datalist with suggestions. */
    list?: string;
  };

/** A line of text, or a date or time in the browser's control. Browsers suggest nothing by default. */
export function TextField(props: TextFieldProps): ReactElement {
  return props.type !== undefined && props.type in lastMoments ? (
    <MomentField {...props} />
  ) : (
    <LineField {...props} />
  );
}

/**
 * A date or time field. Browsers do not report incomplete input, such as half a date: it stays in the control
 * with a message, the value is unchanged, and the form cannot be sent (unreadable-input.ts).
 */
function MomentField({ value = '', onChange, error, ...rest }: TextFieldProps): ReactElement {
  const control = useRef<HTMLInputElement>(null);
  const [unread, setUnread] = useState<{ beside: string } | undefined>();
  // Undo and other editors can change the value; incomplete input is then discarded.
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
      // Clearing an incomplete control does not fire a change event, so it is checked on blur.
      onBlur={() => take(control.current?.value ?? value)}
      error={isUnread ? 'This is incomplete. Complete it or clear it.' : error}
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
      autoComplete="off"
      {...rest}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className={`field ${className}`}
    >
      <Label className="field-label">{label}</Label>
      <FieldHelp description={description} />
      <Input
        ref={inputRef}
        placeholder={placeholder}
        list={list}
        className="field-input"
        max={rest.type === undefined ? undefined : lastMoments[rest.type]}
      />
      <FieldErrorText error={error} />
    </AriaTextField>
  );
}

/** Limits years to four digits. Browsers accept six by default, and `Date` cannot parse those days. */
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

/** A text field with several lines that grows with its content. */
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
      <FieldHelp description={description} />
      <AriaTextArea ref={inputRef} rows={rows} placeholder={placeholder} className="field-input field-area" />
      <FieldErrorText error={error} />
    </AriaTextField>
  );
}

type SearchFieldProps = Omit<AriaSearchFieldProps, 'children' | 'className'> & {
  label: string;
  placeholder?: string;
  inputRef?: Ref<HTMLInputElement>;
};

/** A search box. Its label is only for screen readers. Escape clears it. */
export function SearchField({ label, placeholder, inputRef, ...rest }: SearchFieldProps): ReactElement {
  return (
    <AriaSearchField {...rest} aria-label={label} className="field search-field">
      {({ isEmpty }) => (
        <>
          <Icon name="search" />
          <Input ref={inputRef} placeholder={placeholder ?? label} className="field-input" />
          {!isEmpty && <IconButton icon="close" label="Clear search" size="small" />}
        </>
      )}
    </AriaSearchField>
  );
}

/** Renders the description under the label, for fields built on other react-aria controls. */
export function FieldHelp({ description }: Pick<FieldProps, 'description'>): ReactElement | null {
  if (!description) return null;
  return (
    <Text slot="description" className="field-description">
      {description}
    </Text>
  );
}

/** Renders the error below the control, for fields built on other react-aria controls. */
export function FieldErrorText({ error }: Pick<FieldProps, 'error'>): ReactElement {
  return <FieldError className="field-error">{error}</FieldError>;
}

import './checkbox.css';
import type { ReactElement, ReactNode } from 'react';
import {
  Checkbox as AriaCheckbox,
  CheckboxGroup as AriaCheckboxGroup,
} from 'react-aria-components/CheckboxGroup';
import { Label } from 'react-aria-components/Label';
import { RadioGroup as AriaRadioGroup, Radio } from 'react-aria-components/RadioGroup';
import { Switch as AriaSwitch } from 'react-aria-components/Switch';
import { FieldErrorText, FieldHelp, type FieldProps } from './field.tsx';
import { Icon } from './icon.tsx';
import type { SelectChoice } from './select.tsx';

type ToggleProps = {
  children: ReactNode;
  description?: ReactNode;
  isSelected: boolean;
  onChange: (isSelected: boolean) => void;
  isDisabled?: boolean;
};

/** A yes/no field in a form that is submitted later. In a table, use `aria-label` and no children. */
export function Checkbox({
  children,
  description,
  isIndeterminate,
  ...rest
}: Omit<ToggleProps, 'children'> & {
  children?: ReactNode;
  isIndeterminate?: boolean;
  'aria-label'?: string;
}): ReactElement {
  return (
    <AriaCheckbox {...rest} isIndeterminate={isIndeterminate} className="check">
      <CheckMark isPart={isIndeterminate} />
      {children && <CheckText description={description}>{children}</CheckText>}
    </AriaCheckbox>
  );
}

/** Lets users choose any number of a few options, under one label. */
export function CheckboxGroup<Id extends string>({
  label,
  description,
  error,
  choices,
  value,
  onChange,
  isDisabled,
}: FieldProps & {
  choices: readonly SelectChoice<Id>[];
  value: readonly Id[];
  onChange: (ids: Id[]) => void;
  isDisabled?: boolean;
}): ReactElement {
  return (
    <AriaCheckboxGroup
      className="field check-group"
      value={[...value]}
      onChange={(ids) => onChange(ids as Id[])}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      isDisabled={isDisabled}
    >
      <Label className="field-label">{label}</Label>
      <FieldHelp description={description} />
      {choices.map((choice) => (
        <AriaCheckbox key={choice.id} value={choice.id} className="check">
          <CheckMark />
          <CheckText description={choice.description}>{choice.label}</CheckText>
        </AriaCheckbox>
      ))}
      <FieldErrorText error={error} />
    </AriaCheckboxGroup>
  );
}

/** Lets users choose one of a few visible options. For more than five, use Select. */
export function RadioGroup<Id extends string>({
  label,
  description,
  error,
  choices,
  value,
  onChange,
  isDisabled,
}: FieldProps & {
  choices: readonly SelectChoice<Id>[];
  value: Id;
  onChange: (id: Id) => void;
  isDisabled?: boolean;
}): ReactElement {
  return (
    <AriaRadioGroup
      className="field check-group"
      value={value}
      onChange={(id) => onChange(id as Id)}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      isDisabled={isDisabled}
    >
      <Label className="field-label">{label}</Label>
      <FieldHelp description={description} />
      {choices.map((choice) => (
        <Radio key={choice.id} value={choice.id} className="check">
          <span className="check-mark check-dot" aria-hidden="true" />
          <CheckText description={choice.description}>{choice.label}</CheckText>
        </Radio>
      ))}
      <FieldErrorText error={error} />
    </AriaRadioGroup>
  );
}

/** A switch that takes effect immediately. */
export function Switch({ children, description, ...rest }: ToggleProps): ReactElement {
  return (
    <AriaSwitch {...rest} className="check">
      <span className="switch-track" aria-hidden="true">
        <span className="switch-knob" />
      </span>
      <CheckText description={description}>{children}</CheckText>
    </AriaSwitch>
  );
}

function CheckMark({ isPart = false }: { isPart?: boolean }): ReactElement {
  return (
    <span className="check-mark" aria-hidden="true">
      {isPart ? <span className="check-part" /> : <Icon name="check" />}
    </span>
  );
}

function CheckText({
  children,
  description,
}: {
  children: ReactNode;
  description?: ReactNode;
}): ReactElement {
  return (
    <span className="check-text">
      <span>{children}</span>
      {description && <span className="field-description">{description}</span>}
    </span>
  );
}

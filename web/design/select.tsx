import './select.css';
import type { ReactElement } from 'react';
import { Button } from 'react-aria-components/Button';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { PipedText } from './author-text.tsx';
import { FieldErrorText, FieldHelp, type FieldProps } from './field.tsx';
import { Icon } from './icon.tsx';

export type SelectChoice<Id extends string> = { id: Id; label: string; description?: string };

type SelectProps<Id extends string> = Omit<FieldProps, 'label'> & {
  label: string;
  /** Hides the label visually but keeps it for screen readers, for use in toolbars. */
  isLabelHidden?: boolean;
  choices: readonly SelectChoice<Id>[];
  value: Id;
  onChange: (id: Id) => void;
  isDisabled?: boolean;
  size?: 'medium' | 'small';
  className?: string;
};

/** A choice of one of a few options. Enter, Space or the arrows open it; typing finds an option. */
export function Select<Id extends string>({
  label,
  isLabelHidden = false,
  description,
  error,
  choices,
  value,
  onChange,
  isDisabled = false,
  size = 'medium',
  className = '',
}: SelectProps<Id>): ReactElement {
  return (
    <AriaSelect
      className={`field ${className}`}
      value={value}
      onChange={(key) => onChange(key as Id)}
      isDisabled={isDisabled}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      {...(isLabelHidden && { 'aria-label': label })}
    >
      {!isLabelHidden && <Label className="field-label">{label}</Label>}
      <FieldHelp description={description} />
      <Button className={`field-input select-button select-${size}`}>
        <SelectValue className="cut">{({ selectedText }) => <PipedText text={selectedText} />}</SelectValue>
        <Icon name="chevron-down" />
      </Button>
      <FieldErrorText error={error} />
      <Popover className="popover select-popover" offset={4}>
        <ListBox items={choices} className="menu-list">
          {(choice) => (
            <ListBoxItem id={choice.id} textValue={choice.label} className="menu-item">
              <span className="menu-item-text">
                {/* No slots for label and description: the accessible name must contain all visible text (WCAG 2.5.3). */}
                <span>
                  <PipedText text={choice.label} />
                </span>
                {choice.description && <span className="menu-item-description">{choice.description}</span>}
              </span>
              <span className="menu-item-check">
                <Icon name="check" />
              </span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

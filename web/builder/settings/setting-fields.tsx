import type { ReactElement } from 'react';
import type { SettingName, Settings } from '#ast/settings.ts';
import { Switch } from '../../design/checkbox.tsx';
import { TextField } from '../../design/field.tsx';
import { readNumber } from '../../design/read-number.ts';
import { settingTitles } from './setting-words.ts';

/** A change of some settings; undefined takes one away. */
export type SettingsChange = { readonly [Name in SettingName]?: Settings[Name] | undefined };

/** What every group of settings works with. */
export type SettingsForm = {
  readonly settings: Settings;
  readonly set: (change: SettingsChange) => void;
  /** What keeps a setting from being published. */
  readonly error: (name: SettingName) => string | undefined;
  readonly isReadOnly: boolean;
};

/** What every control of a setting is given. */
export const fieldOf = (form: SettingsForm, name: SettingName) => ({
  label: settingTitles[name],
  error: form.error(name),
});

type NamesOf<Value> = {
  [Name in SettingName]: Settings[Name] extends Value | undefined ? Name : never;
}[SettingName];

type FieldProps<Name extends SettingName> = {
  readonly form: SettingsForm;
  readonly name: Name;
  readonly description?: string;
};

/** A setting that is a whole number; empty for none. What is none yet is kept as it was typed, and is a problem. */
export function CountField({ form, name, description }: FieldProps<NamesOf<number>>): ReactElement {
  const value: unknown = form.settings[name];
  return (
    <TextField
      {...fieldOf(form, name)}
      description={description}
      inputMode="numeric"
      autoComplete="off"
      value={typeof value === 'number' || typeof value === 'string' ? String(value) : ''}
      onChange={(text) => form.set({ [name]: readNumber(text, true) ?? text })}
      isReadOnly={form.isReadOnly}
    />
  );
}

/** A setting that is on or off; off unless `isOn` says otherwise. */
export function FlagField({
  form,
  name,
  description,
  isOn: byDefault = false,
}: FieldProps<NamesOf<boolean>> & { readonly isOn?: boolean }): ReactElement {
  return (
    <Switch
      isSelected={form.settings[name] ?? byDefault}
      onChange={(isOn) => form.set({ [name]: isOn })}
      description={description}
      isDisabled={form.isReadOnly}
    >
      {settingTitles[name]}
    </Switch>
  );
}

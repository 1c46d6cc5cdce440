import type { ReactElement } from 'react';
import type { SettingName, Settings } from '#ast/settings.ts';
import { Switch } from '../../design/checkbox.tsx';
import { NumberInput } from '../../design/number-input.tsx';

/** A change of some settings; undefined takes one away. */
export type SettingsChange = { readonly [Name in SettingName]?: Settings[Name] | undefined };

/** What every group of settings works with. */
export type SettingsForm = {
  readonly settings: Settings;
  readonly set: (change: SettingsChange) => void;
  /** What the service said of a setting that it refused. */
  readonly error: (name: SettingName) => string | undefined;
  readonly isReadOnly: boolean;
};

type NamesOf<Value> = {
  [Name in SettingName]: Settings[Name] extends Value | undefined ? Name : never;
}[SettingName];

type FieldProps<Name extends SettingName> = {
  readonly form: SettingsForm;
  readonly name: Name;
  readonly label: string;
  readonly description?: string;
};

/** A setting that is a whole number; empty for none. */
export function CountField({ form, name, label, description }: FieldProps<NamesOf<number>>): ReactElement {
  return (
    <NumberInput
      label={label}
      description={description}
      value={form.settings[name]}
      isWhole
      onChange={(number) => form.set({ [name]: number })}
      error={form.error(name)}
      isReadOnly={form.isReadOnly}
    />
  );
}

/** A setting that is on or off. */
export function FlagField({ form, name, label, description }: FieldProps<NamesOf<boolean>>): ReactElement {
  return (
    <Switch
      isSelected={form.settings[name] ?? false}
      onChange={(isOn) => form.set({ [name]: isOn })}
      description={description}
      isDisabled={form.isReadOnly}
    >
      {label}
    </Switch>
  );
}

import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useId, useMemo, useState } from 'react';
import { type Language, languages } from '#ast/basics/languages.ts';
import { sayCount } from '#ast/basics/say-count.ts';
import { subjectCandidates } from '#ast/searchable.ts';
import type { SettingName, Settings } from '#ast/settings.ts';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { Button } from '../../design/button.tsx';
import { Switch } from '../../design/checkbox.tsx';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Icon } from '../../design/icon.tsx';
import { Card } from '../../design/page.tsx';
import { readNumber } from '../../design/read-number.ts';
import { Select } from '../../design/select.tsx';
import { toastDone } from '../../design/toast.tsx';
import type { EditNode } from '../model/edit-node.ts';
import { focusSetting, type SettingProblem, settingTitles } from './settings-values.ts';
import { useElementChoices } from './use-element-choices.ts';

/** A change of settings; undefined removes one. */
export type SettingsChange = { readonly [Name in SettingName]?: Settings[Name] | undefined };

/** Shared by all groups of settings. */
export type SettingsForm = {
  readonly settings: Settings;
  readonly set: (change: SettingsChange) => void;
  /** Returns the problem that keeps a setting from being published. */
  readonly error: (name: SettingName) => string | undefined;
  readonly isReadOnly: boolean;
};

/** Returns the props that every control of a setting has in common. */
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

/**
 * A setting with a whole number, or empty for none. Invalid text is kept as typed and reported as a problem.
 */
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

/** A setting that is on or off; `isOn` is the default. */
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

type PasswordProps = {
  readonly hasPassword: boolean;
  readonly error: string | undefined;
  readonly isReadOnly: boolean;
  readonly setPassword: (password: string) => Promise<void>;
};

/**
 * The form's password. It is the only setting that applies immediately, because no one can read it again: no
 * working copy and no version contains it.
 */
export function PasswordField({ hasPassword, error, isReadOnly, setPassword }: PasswordProps): ReactElement {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="field" role="group" aria-labelledby={`${id}-label`} aria-describedby={`${id}-note`}>
      <span id={`${id}-label`} className="field-label">
        {settingTitles.password}
      </span>
      <span id={`${id}-note`} className="field-description">
        {hasPassword ? 'A password is set. It is never shown again. ' : 'No password is set. '}A new password
        applies immediately, without publishing, and is not part of the history.
      </span>
      <div className="row">
        <Button isDisabled={isReadOnly} onPress={() => setOpen(true)}>
          {hasPassword ? 'Change password' : 'Set password'}
        </Button>
      </div>
      {error && <div className="field-error">{error}</div>}
      {isOpen && (
        <PasswordDialog
          onClose={() => setOpen(false)}
          setPassword={setPassword}
          onSet={() => {
            setOpen(false);
            toastDone('Password set.');
          }}
        />
      )}
    </div>
  );
}

type DialogProps = Pick<PasswordProps, 'setPassword'> & {
  readonly onClose: () => void;
  readonly onSet: () => void;
};

function PasswordDialog({ setPassword, onClose, onSet }: DialogProps): ReactElement {
  const [password, setText] = useState('');
  const saving = useMutation({ mutationFn: () => setPassword(password), onSuccess: onSet });
  const problem = saving.error instanceof ApiProblem ? saving.error : undefined;
  return (
    <FormDialog
      title="Form password"
      isOpen
      onClose={onClose}
      onSubmit={() => saving.mutate()}
      submitLabel="Set password"
      isPending={saving.isPending}
      error={unlocatedProblem(saving.error)}
    >
      <TextField
        autoFocus
        type="password"
        label="New password"
        description="4 to 128 characters. No one can read it after you set it."
        autoComplete="new-password"
        isRequired
        value={password}
        onChange={setText}
        error={problem?.of('password')}
      />
    </FormDialog>
  );
}

/**
 * Always visible at the top of a settings view: the number of problems that prevent publishing, and a link to
 * the first.
 */
export function ProblemLink({ problems }: { problems: readonly SettingProblem[] }): ReactElement | null {
  const [first] = problems;
  if (!first) return null;
  return (
    <button type="button" className="link-button settings-problem" onClick={() => focusSetting(first)}>
      <Icon name="warning" />
      {problems.length === 1
        ? `Not valid yet: ${first.title}`
        : `Not valid yet: ${sayCount(problems.length, 'setting')}`}
    </button>
  );
}

const languageChoices = (Object.keys(languages) as Language[]).map((id) => ({
  id,
  label: id === 'simple' ? 'Any language (exact words)' : `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
}));

/** How submissions are found and named, their time zone, and whether visits are counted. */
export function SearchCard({ form, root }: { form: SettingsForm; root: EditNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  const subjects = useElementChoices(
    root,
    settings.subject_element,
    subjectCandidates,
    'Automatic: the element “subject”, or the first short text',
  );
  const zones = useMemo(() => timeZoneChoices(settings.time_zone), [settings.time_zone]);
  return (
    <Card title="Search, time and visits">
      <Select
        {...fieldOf(form, 'subject_element')}
        description="Names the submission and ranks highest in search."
        value={settings.subject_element ?? ''}
        choices={subjects}
        onChange={(id) => set({ subject_element: id === '' ? undefined : id })}
        isDisabled={isReadOnly}
      />
      <Select
        {...fieldOf(form, 'language')}
        description="Search also finds other forms of a word in this language."
        value={settings.language ?? 'english'}
        choices={languageChoices}
        onChange={(language) => set({ language })}
        isDisabled={isReadOnly}
      />
      <Select
        {...fieldOf(form, 'time_zone')}
        description="Sets “today” for date limits and conditions, and the days in the summary of visits."
        value={settings.time_zone ?? ''}
        choices={zones}
        onChange={(zone) => set({ time_zone: zone })}
        isDisabled={isReadOnly}
      />
      <FlagField
        form={form}
        name="analytics"
        isOn
        description="The summary shows how many visitors viewed, started and submitted the form, and where the others left. Only totals are stored: no cookies, addresses or individual visits."
      />
    </Card>
  );
}

/** Lists the time zones that this browser knows, including the chosen one. */
function timeZoneChoices(chosen: string | undefined): readonly { id: string; label: string }[] {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const names = new Set(['UTC', own, ...(chosen ? [chosen] : []), ...Intl.supportedValuesOf('timeZone')]);
  return [
    { id: '', label: 'Default (UTC)' },
    ...[...names].map((id) => ({ id, label: id === own ? `${id} (yours)` : id.replaceAll('_', ' ') })),
  ];
}

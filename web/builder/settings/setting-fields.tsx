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

type PasswordProps = {
  readonly hasPassword: boolean;
  readonly error: string | undefined;
  readonly isReadOnly: boolean;
  readonly setPassword: (password: string) => Promise<void>;
};

/** The password of the form. It alone holds at once, and says so: nobody can read it again, in no working copy and no version. */
export function PasswordField({ hasPassword, error, isReadOnly, setPassword }: PasswordProps): ReactElement {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="field" role="group" aria-labelledby={`${id}-label`} aria-describedby={`${id}-note`}>
      <span id={`${id}-label`} className="field-label">
        {settingTitles.password}
      </span>
      <span id={`${id}-note`} className="field-description">
        {hasPassword ? 'One is set. It is never shown again. ' : 'None is set yet. '}
        It holds at once, without publishing, and is not part of the history.
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
            toastDone('The password holds from now on.');
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
      title="Password of this form"
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
        description="4 to 128 characters. It is kept so that nobody can read it, us included."
        autoComplete="new-password"
        isRequired
        value={password}
        onChange={setText}
        error={problem?.of('password')}
      />
    </FormDialog>
  );
}

/** At the head of a view of settings, always in sight: how many of them keep the form from being published, and the way to the first. */
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
  label: id === 'simple' ? 'Any language, words as they are' : `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
}));

/** How submissions are found and named, which day it is for them, and whether visits are counted. */
export function SearchCard({ form, root }: { form: SettingsForm; root: EditNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  const subjects = useElementChoices(
    root,
    settings.subject_element,
    subjectCandidates,
    'By itself: the element “subject”, else the first short text',
  );
  const zones = useMemo(() => timeZoneChoices(settings.time_zone), [settings.time_zone]);
  return (
    <Card title="Search, time and visits">
      <Select
        {...fieldOf(form, 'subject_element')}
        description="The answer that weighs most in search, and names a submission."
        value={settings.subject_element ?? ''}
        choices={subjects}
        onChange={(id) => set({ subject_element: id === '' ? undefined : id })}
        isDisabled={isReadOnly}
      />
      <Select
        {...fieldOf(form, 'language')}
        description="Search finds other forms of a word in this language."
        value={settings.language ?? 'english'}
        choices={languageChoices}
        onChange={(language) => set({ language })}
        isDisabled={isReadOnly}
      />
      <Select
        {...fieldOf(form, 'time_zone')}
        description="Decides which day is “today” for limits on dates and for conditions, and the days of the summary of visits."
        value={settings.time_zone ?? ''}
        choices={zones}
        onChange={(zone) => set({ time_zone: zone })}
        isDisabled={isReadOnly}
      />
      <FlagField
        form={form}
        name="analytics"
        isOn
        description="The summary shows how many saw the page, began and sent it, and where the others left. Only sums are kept: no cookie, no address, nothing of any one visit."
      />
    </Card>
  );
}

/** The zones that this browser knows; the one that is set is among them in any case. */
function timeZoneChoices(chosen: string | undefined): readonly { id: string; label: string }[] {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const names = new Set(['UTC', own, ...(chosen ? [chosen] : []), ...Intl.supportedValuesOf('timeZone')]);
  return [
    { id: '', label: 'UTC, unless chosen' },
    ...[...names].map((id) => ({ id, label: id === own ? `${id} (yours)` : id.replaceAll('_', ' ') })),
  ];
}

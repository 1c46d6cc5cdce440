import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useId, useMemo, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import type { Form, InputElement } from '#ast/form/tree.ts';
import type { SettingName, Settings } from '#ast/settings.ts';
import { settingRow } from '#ast/settings-table.ts';
import { ApiProblem, errorMessageWithoutField } from '../../api/client.ts';
import { fillLabels } from '../../conditions/condition-tree.ts';
import { Button } from '../../design/button.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Icon } from '../../design/icon.tsx';
import { Message } from '../../design/message.tsx';
import { Select, type SelectChoice } from '../../design/select.tsx';
import { toastDone } from '../../design/toast.tsx';
import { membersQuery } from '../../settings/workspace.ts';
import { useCurrentForm } from '../../shell/session.ts';
import type { EditNode } from '../model/edit-node.ts';
import { finderIn } from '../model/form-index.ts';
import { validateRoot } from '../model/form-problems.ts';
import { DeclaredField } from './declared-field.tsx';
import { focusSetting, type SettingProblem } from './settings-values.ts';

/** A change to some settings; undefined removes a setting. */
export type SettingsChange = { readonly [Name in SettingName]?: Settings[Name] | undefined };

/** The settings of a form, as every control uses them. */
export type SettingsEditor = {
  readonly root: EditNode;
  readonly settings: Settings;
  readonly set: (change: SettingsChange) => void;
  /** Returns the problem with a setting that prevents publishing. */
  readonly error: (name: SettingName) => string | undefined;
  readonly isReadOnly: boolean;
  readonly hasPassword: boolean;
  readonly setPassword: (password: string) => Promise<void>;
};

export type SettingProps = { readonly form: SettingsEditor };

/** Returns the props that the controls of all settings have in common. */
export function settingFieldProps(form: SettingsEditor, name: SettingName) {
  const { title, help, control, default: byDefault } = settingRow(name);
  const notes = {
    number: ` Leave empty for ${byDefault ?? 'no limit'}.`,
    time: ' In your time zone.',
  } as const;
  const note = control === 'number' || control === 'time' ? notes[control] : '';
  return { label: title, description: `${help}${note}`, error: form.error(name) };
}

/** Renders the control of a setting, as its row in the table declares it. */
export function SettingField({
  form,
  name,
}: SettingProps & { readonly name: SettingName }): ReactElement | null {
  const { control, choices, default: byDefault, isKept } = settingRow(name);
  const isList = control === 'select' || control === 'radio';
  return (
    <DeclaredField
      {...settingFieldProps(form, name)}
      control={control}
      choices={choices}
      // An empty field stands for its default, as its help says.
      value={form.settings[name] ?? (isList || control === 'switch' ? byDefault : undefined)}
      isReadOnly={form.isReadOnly}
      onChange={(next) => form.set({ [name]: isList && next === byDefault && !isKept ? undefined : next })}
    />
  );
}

/** The short address, with the whole address that the form gets. */
export function SlugField({ form }: SettingProps): ReactElement {
  const { id, public_url: url } = useCurrentForm();
  const { slug } = form.settings;
  return (
    <div className="stack-tight">
      <SettingField form={form} name="slug" />
      <p className="soft small">
        Public link: <code>{new URL(`/f/${form.error('slug') ? id : (slug ?? id)}`, url).href}</code>
      </p>
    </div>
  );
}

/**
 * The email addresses for notifications. A warning names the addresses that do not belong to a member of the
 * workspace.
 */
export function NotificationEmailField({ form }: SettingProps): ReactElement {
  const { notification_email: addresses = '' } = form.settings;
  return (
    <>
      <TextField
        {...settingFieldProps(form, 'notification_email')}
        inputMode="email"
        value={addresses}
        onChange={(text) => form.set({ notification_email: text })}
        isReadOnly={form.isReadOnly}
      />
      <Strangers addresses={addresses} />
    </>
  );
}

function Strangers({ addresses }: { addresses: string }): ReactElement | null {
  const { data: members } = useQuery(membersQuery(useCurrentForm().workspace_id));
  const known = new Set(members?.map(({ email }) => email.toLowerCase()));
  const strangers = addresses.split(',').flatMap((text) => {
    const address = /[^\s<>]+@[^\s<>]+\.[^\s<>]+/.exec(text)?.[0];
    return address === undefined || known.has(address.toLowerCase()) ? [] : [address];
  });
  if (!members || strangers.length === 0) return null;
  return (
    <Message tone="warn">
      {strangers.length === 1
        ? `${strangers[0]} is not a member of this workspace but gets`
        : `${strangers.join(', ')} are not members of this workspace but get`}{' '}
      every submission by email.
    </Message>
  );
}

/** Whether the receipt contains the answers, with a note about the risk. */
export function ReceiptAnswersField({ form }: SettingProps): ReactElement {
  return (
    <>
      <SettingField form={form} name="receipt_answers" />
      {form.settings.receipt_answers === true && (
        <Message tone="warn">{settingRow('receipt_answers').note}</Message>
      )}
    </>
  );
}

type ElementProps = SettingProps & {
  readonly name: 'receipt_email_element' | 'subject_element' | 'certificate_name_element';
  readonly candidatesOf: (form: Form) => readonly InputElement[];
  /** The label of the option that selects no element. */
  readonly none: string;
};

/** A setting that refers to an element of the form. */
export function ElementField({ form, name, candidatesOf, none }: ElementProps): ReactElement {
  return (
    <Select
      {...settingFieldProps(form, name)}
      value={form.settings[name] ?? ''}
      choices={useElementChoices(form.root, form.settings[name], candidatesOf, none)}
      onChange={(id) => form.set({ [name]: id })}
      isDisabled={form.isReadOnly}
    />
  );
}

/** Returns the elements that a setting can refer to, and the chosen one even if it no longer exists. */
export function useElementChoices(
  root: EditNode,
  chosen: string | undefined,
  candidatesOf: (form: Form) => readonly InputElement[],
  none: string,
): readonly SelectChoice<string>[] {
  return useMemo(() => {
    const result = validateRoot(root);
    const known = (result.ok ? candidatesOf(result.form) : []).map(({ attrs: { id, label } }) => ({
      id,
      label: fillLabels(label, finderIn(root)),
    }));
    const isGone = chosen !== undefined && !known.some(({ id }) => id === chosen);
    const why = result.ok ? 'not in the form' : 'the form is incomplete';
    return [
      { id: '', label: none },
      ...known,
      ...(isGone ? [{ id: chosen, label: `${chosen} (${why})` }] : []),
    ];
  }, [root, candidatesOf, chosen, none]);
}

/** The time zone, chosen from those that this browser knows. The current one is always listed. */
export function TimeZoneField({ form }: SettingProps): ReactElement {
  const { time_zone: chosen } = form.settings;
  const zones = useMemo(() => timeZoneChoices(chosen), [chosen]);
  return (
    <Select
      {...settingFieldProps(form, 'time_zone')}
      value={chosen ?? ''}
      choices={zones}
      onChange={(zone) => form.set({ time_zone: zone })}
      isDisabled={form.isReadOnly}
    />
  );
}

function timeZoneChoices(chosen: string | undefined): readonly SelectChoice<string>[] {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const names = new Set(['UTC', own, ...(chosen ? [chosen] : []), ...Intl.supportedValuesOf('timeZone')]);
  return [
    { id: '', label: 'UTC (default)' },
    ...[...names].map((id) => ({ id, label: id === own ? `${id} (yours)` : id.replaceAll('_', ' ') })),
  ];
}

const originsIn = (text: string): string[] => text.split(/\s+/).filter((line) => line !== '');

/** The sites that can embed the form, one per line (docs/embedding.md). */
export function AllowedSitesField({ form }: SettingProps): ReactElement {
  const listed = form.settings.embed_origins?.join('\n') ?? '';
  // An empty line is not an origin, but must stay while the user types in it. Undo and other editors change
  // the list itself.
  const [written, setWritten] = useState(listed);
  const text = originsIn(written).join('\n') === listed ? written : listed;
  const change = (next: string): void => {
    setWritten(next);
    const origins = originsIn(next);
    form.set({ embed_origins: origins.length > 0 ? origins : undefined });
  };
  const { description, ...field } = settingFieldProps(form, 'embed_origins');
  return (
    <TextArea
      {...field}
      description={`${description} One site per line. Leave empty to allow every site.`}
      placeholder="https://example.com"
      value={text}
      onChange={change}
      isReadOnly={form.isReadOnly}
    />
  );
}

/**
 * The password of the form. A change applies immediately, because the password is not part of any version.
 */
export function FormPasswordField({ form }: SettingProps): ReactElement | null {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const { hasPassword, isReadOnly, setPassword } = form;
  const error = form.error('password');
  if (form.settings.access !== 'password') return null;
  return (
    <div className="field" role="group" aria-labelledby={`${id}-label`} aria-describedby={`${id}-note`}>
      <span id={`${id}-label`} className="field-label">
        {settingRow('password').title}
      </span>
      <span id={`${id}-note`} className="field-description">
        {hasPassword ? 'A password is set. It will not be shown again. ' : 'No password is set. '}A new
        password takes effect immediately, without publishing. It is not saved in the version history.
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
            toastDone('The new password is in effect.');
          }}
        />
      )}
    </div>
  );
}

type DialogProps = Pick<SettingsEditor, 'setPassword'> & {
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
      onClose={onClose}
      onSubmit={() => saving.mutate()}
      submitLabel="Set password"
      isPending={saving.isPending}
      error={errorMessageWithoutField(saving.error)}
    >
      <TextField
        autoFocus
        type="password"
        label="New password"
        description="4 to 128 characters. Only a hash is stored."
        autoComplete="new-password"
        isRequired
        value={password}
        onChange={setText}
        error={problem?.of('password')}
      />
    </FormDialog>
  );
}

/** At the head of a view of settings: how many problems prevent publishing, with a link to the first. */
export function SettingProblemsLink({
  problems,
}: {
  problems: readonly SettingProblem[];
}): ReactElement | null {
  const [first] = problems;
  if (!first) return null;
  return (
    <button type="button" className="link-button settings-problem" onClick={() => focusSetting(first)}>
      <Icon name="warning" />
      {problems.length === 1
        ? `Not valid yet: ${first.title}`
        : `Not valid yet: ${formatCount(problems.length, 'setting')}`}
    </button>
  );
}

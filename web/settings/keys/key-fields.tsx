import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { permissionChoices } from '#rules/permissions.ts';
import type { Key, KeyChange, NewKey } from '#workspaces/key-endpoints.ts';
import type { Action } from '../../design/action.tsx';
import { CheckboxGroup, RadioGroup } from '../../design/checkbox.tsx';
import { TextField } from '../../design/field.tsx';
import { Select } from '../../design/select.tsx';
import { Loading } from '../../design/states.tsx';
import { formatDate } from '../../design/time.tsx';
import { formNamesQuery, mostFormNames } from '../workspace.ts';

type Permissions = NonNullable<NewKey['permissions']>;

/** The lifetime of a key in days from now; `0`: it does not expire; `own`: unchanged. */
type Lifetime = '0' | '30' | '90' | '365' | 'own';

/** A key that is being edited. */
export type KeyDraft = {
  name: string;
  may: 'all' | 'some';
  permissions: Permissions;
  reach: 'all' | 'some';
  formIds: readonly string[];
  lifetime: Lifetime;
};

export const emptyDraft: KeyDraft = {
  name: '',
  may: 'all',
  permissions: [],
  reach: 'all',
  formIds: [],
  lifetime: '0',
};

/** Converts an existing key to a draft. */
export const keyDraftOf = ({ name, permissions, form_ids, expires_at }: Key): KeyDraft => ({
  name,
  may: permissions ? 'some' : 'all',
  permissions: permissions ?? [],
  reach: form_ids ? 'some' : 'all',
  formIds: form_ids ?? [],
  lifetime: expires_at ? 'own' : '0',
});

export function newKeyOfDraft({ name, may, permissions, reach, formIds, lifetime }: KeyDraft): NewKey {
  const expires = endOf(lifetime, null);
  return {
    name,
    ...(may === 'some' && { permissions }),
    ...(reach === 'some' && { form_ids: [...formIds] }),
    ...(expires !== null && { expires_at: expires }),
  };
}

/** @param current expiry of the key before the edit. */
export const keyChangeOfDraft = (draft: KeyDraft, current: string | null): KeyChange => ({
  name: draft.name,
  permissions: draft.may === 'some' ? draft.permissions : null,
  form_ids: draft.reach === 'some' ? [...draft.formIds] : null,
  expires_at: endOf(draft.lifetime, current),
});

function endOf(lifetime: Lifetime, current: string | null): string | null {
  if (lifetime === 'own') return current;
  if (lifetime === '0') return null;
  const end = new Date();
  end.setDate(end.getDate() + Number(lifetime));
  return end.toISOString();
}

const lifetimes: readonly { id: Lifetime; label: string }[] = [
  { id: '0', label: 'Does not expire' },
  { id: '30', label: 'In 30 days' },
  { id: '90', label: 'In 90 days' },
  { id: '365', label: 'In a year' },
];

const permissionReaches = [
  {
    id: 'all',
    label: 'All data',
    description:
      'Forms, submissions and invitations, including data features added in later versions. No administration.',
  },
  { id: 'some', label: 'Selected permissions', description: 'Choose them below.' },
] as const;

const formReaches = [
  { id: 'all', label: 'All forms', description: 'Including forms created later.' },
  {
    id: 'some',
    label: 'Selected forms',
    description: 'Including their submissions. The key cannot create forms.',
  },
] as const;

/** The fields of a key: name, permissions, forms and expiry. */
export function KeyFields({
  workspaceId,
  draft,
  expiresAt,
  action,
  onChange,
}: {
  workspaceId: string;
  draft: KeyDraft;
  /** The expiry of an existing key. */
  expiresAt: string | null;
  /** The action whose errors are shown at the fields. */
  action: Pick<Action, 'of'>;
  onChange: (part: Partial<KeyDraft>) => void;
}): ReactElement {
  const own = expiresAt ? [{ id: 'own' as const, label: `On ${formatDate(expiresAt)} (current)` }] : [];
  return (
    <>
      <TextField
        label="Name"
        description="The program that uses the key, such as “Nightly export”."
        value={draft.name}
        onChange={(name) => onChange({ name })}
        error={action.of('name')}
        autoFocus
      />
      <RadioGroup
        label="Data access"
        choices={permissionReaches}
        value={draft.may}
        onChange={(may) => onChange({ may })}
      />
      {draft.may === 'some' && (
        <CheckboxGroup
          label="Permissions"
          choices={permissionChoices}
          value={draft.permissions}
          onChange={(permissions) => onChange({ permissions })}
          error={action.of('permissions')}
        />
      )}
      <RadioGroup
        label="Form access"
        choices={formReaches}
        value={draft.reach}
        onChange={(reach) => onChange({ reach })}
      />
      {draft.reach === 'some' && (
        <FormChoices
          workspaceId={workspaceId}
          value={draft.formIds}
          onChange={(formIds) => onChange({ formIds })}
          error={action.of('form_ids')}
        />
      )}
      <Select
        label="Expires"
        choices={[...own, ...lifetimes]}
        value={draft.lifetime}
        onChange={(lifetime) => onChange({ lifetime })}
        error={action.of('expires_at')}
      />
    </>
  );
}

function FormChoices({
  workspaceId,
  value,
  onChange,
  error,
}: {
  workspaceId: string;
  value: readonly string[];
  onChange: (ids: string[]) => void;
  error: string | undefined;
}): ReactElement {
  const forms = useQuery(formNamesQuery(workspaceId));
  const known = (forms.data ?? []).map(({ id, name }) => ({ id, label: name }));
  const left = value.filter((id) => known.some((form) => form.id === id));
  // Removes deleted forms from the selection, because they would prevent saving.
  const hasGone =
    forms.isSuccess && !forms.isFetching && known.length < mostFormNames && left.length < value.length;
  useEffect(() => {
    if (hasGone) onChange(left);
  });
  if (forms.isPending) return <Loading lines={2} label="Loading forms…" />;
  return (
    <div className="key-forms">
      <CheckboxGroup
        label="Forms"
        choices={known}
        value={left}
        onChange={onChange}
        error={error ?? forms.error?.message}
      />
    </div>
  );
}

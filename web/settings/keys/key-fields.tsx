import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { permissionChoices } from '#rules/permissions.ts';
import type { ApiProblem } from '../../api/client.ts';
import { CheckboxGroup, RadioGroup } from '../../design/checkbox.tsx';
import { TextField } from '../../design/field.tsx';
import { Select } from '../../design/select.tsx';
import { Loading } from '../../design/states.tsx';
import { sayDay } from '../../design/time.tsx';
import { formNamesQuery, mostFormNames } from '../workspace.ts';
import type { KeyDraft, Lifetime } from './key-draft.ts';

const lifetimes: readonly { id: Lifetime; label: string }[] = [
  { id: '0', label: 'Does not expire' },
  { id: '30', label: 'In 30 days' },
  { id: '90', label: 'In 90 days' },
  { id: '365', label: 'In a year' },
];

const permissionReaches = [
  {
    id: 'all',
    label: 'Everything with data',
    description: 'Forms, submissions and invitations, also what later versions add; no administration.',
  },
  { id: 'some', label: 'Only some', description: 'What you choose below.' },
] as const;

const formReaches = [
  { id: 'all', label: 'Every form', description: 'Also forms that are made later.' },
  { id: 'some', label: 'Only some forms', description: 'And their submissions. It cannot create forms.' },
] as const;

/** What a key is called, what it may do, which forms it reaches, and until when. */
export function KeyFields({
  workspaceId,
  draft,
  expiresAt,
  problem,
  onChange,
}: {
  workspaceId: string;
  draft: KeyDraft;
  /** When a key that is there already expires. */
  expiresAt: string | null;
  problem: ApiProblem | undefined;
  onChange: (part: Partial<KeyDraft>) => void;
}): ReactElement {
  const own = expiresAt ? [{ id: 'own' as const, label: `On ${sayDay(expiresAt)}, as now` }] : [];
  return (
    <>
      <TextField
        label="Name"
        description="What uses it, such as “Nightly export”."
        value={draft.name}
        onChange={(name) => onChange({ name })}
        error={problem?.of('name')}
        autoFocus
        autoComplete="off"
      />
      <RadioGroup
        label="It may"
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
          error={problem?.of('permissions')}
        />
      )}
      <RadioGroup
        label="It reaches"
        choices={formReaches}
        value={draft.reach}
        onChange={(reach) => onChange({ reach })}
      />
      {draft.reach === 'some' && (
        <FormChoices
          workspaceId={workspaceId}
          value={draft.formIds}
          onChange={(formIds) => onChange({ formIds })}
          error={problem?.of('form_ids')}
        />
      )}
      <Select
        label="Expires"
        choices={[...own, ...lifetimes]}
        value={draft.lifetime}
        onChange={(lifetime) => onChange({ lifetime })}
        error={problem?.of('expires_at')}
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
  // A form that was deleted since is let go of, so that it does not stand in the way of saving.
  const hasGone =
    forms.isSuccess && !forms.isFetching && known.length < mostFormNames && left.length < value.length;
  useEffect(() => {
    if (hasGone) onChange(left);
  });
  if (forms.isPending) return <Loading lines={2} label="Loading the forms …" />;
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

import type { Key, KeyChange, NewKey } from '#workspaces/keys/shapes.ts';

type Permissions = NonNullable<NewKey['permissions']>;

/** How long a key is to live, from now, in days; `0`: without end; `own`: as it is. */
export type Lifetime = '0' | '30' | '90' | '365' | 'own';

/** A key while it is being written. */
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

/** The draft of a key that is there already. */
export const draftOf = ({ name, permissions, form_ids, expires_at }: Key): KeyDraft => ({
  name,
  may: permissions ? 'some' : 'all',
  permissions: permissions ?? [],
  reach: form_ids ? 'some' : 'all',
  formIds: form_ids ?? [],
  lifetime: expires_at ? 'own' : '0',
});

export function readNewKey({ name, may, permissions, reach, formIds, lifetime }: KeyDraft): NewKey {
  const expires = endOf(lifetime, null);
  return {
    name,
    ...(may === 'some' && { permissions }),
    ...(reach === 'some' && { form_ids: [...formIds] }),
    ...(expires !== null && { expires_at: expires }),
  };
}

/** @param current when the key expires now. */
export const readEdit = (draft: KeyDraft, current: string | null): KeyChange => ({
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

import { call } from '../api/operations.ts';
import type { FormLine } from './forms-query.ts';

/** Hands the form's live version and settings to the person as a file. */
export async function exportForm({ workspace_id, id, name }: FormLine): Promise<void> {
  const exported = await call(workspace_id, 'exportForm', { params: { id } });
  const file = new Blob([`${JSON.stringify(exported, null, 2)}\n`], { type: 'application/json' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `${fileName(name)}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A name that every file system takes. */
const fileName = (name: string): string =>
  name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 80)
    .toLowerCase() || 'form';

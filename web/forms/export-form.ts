import type { ExportedForm } from '#console/forms-list/shapes.ts';
import { get } from '../api/client.ts';

/** Hands the form's live version and settings to the person as a file. */
export async function exportForm(path: string, name: string): Promise<void> {
  const exported = await get<ExportedForm>(`${path}/export`);
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

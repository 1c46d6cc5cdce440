import { readTextFile } from '../../design/read-text-file.ts';
import type { ImportSource } from './import-query.ts';

/** Bytes of a workbook; the service takes no larger one. */
const mostBytes = 4_000_000;

/** A file as the service takes it: a workbook by its name, all else as the text of a CSV file. */
export async function readSource(file: File): Promise<{ source: ImportSource } | { problem: string }> {
  if (!/\.xlsx$/i.test(file.name)) {
    const read = await readTextFile(file);
    return 'problem' in read ? read : { source: { kind: 'csv', text: read.text } };
  }
  if (file.size > mostBytes)
    return { problem: `${file.name} is larger than 4 MB. Import it in parts, or as CSV.` };
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  // By pieces: a call takes so many arguments and no more.
  for (let at = 0; at < bytes.length; at += 32_768)
    binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return { source: { kind: 'xlsx', data: btoa(binary) } };
}

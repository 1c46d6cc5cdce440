import { formLimits } from '../basics/limits.ts';

/** A file name extension (`.pdf`), a type (`application/pdf`) or a family of types (`image/*`). */
const fileType = /^(?:\.[a-z0-9][a-z0-9._+-]{0,31}|[a-z]+\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,126}))$/i;

/** Returns whether the file has one of the types, by its extension or content type (as in HTML). */
export function isOfType(
  file: { readonly filename: string; readonly content_type: string },
  types: readonly string[],
): boolean {
  const name = file.filename.toLowerCase();
  const [contentType = ''] = file.content_type.toLowerCase().split(';');
  return types.some((type) => {
    const wanted = type.toLowerCase();
    if (wanted.startsWith('.')) return name.endsWith(wanted);
    return wanted.endsWith('/*')
      ? contentType.startsWith(wanted.slice(0, -1))
      : contentType.trim() === wanted;
  });
}

/** Returns what is wrong with a list of types, as the end of a sentence about the attribute. */
export function fileTypesProblem(value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= formLimits.fileTypes;
  return isList && value.every((type) => typeof type === 'string' && fileType.test(type))
    ? undefined
    : `must be a list of 1 to ${formLimits.fileTypes} types like ".pdf", "image/*" or "application/pdf"`;
}

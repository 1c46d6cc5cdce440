import { isSameJson } from '#ast/json.ts';
import { mergeSettings } from '#ast/merge-settings.ts';
import type { Settings } from '#ast/settings.ts';
import type { FormNode } from '#ast/tree.ts';

/** All that is edited in the builder, complete or not: the working copy is one of these, and so is every version. */
export type FormDocument = { readonly structure: FormNode; readonly settings: Settings };

/** Whether two say the same. */
export const isSameDocument = (one: FormDocument, other: FormDocument): boolean =>
  isSameJson(one.structure, other.structure) && isSameJson(one.settings, other.settings);

/**
 * Mine with what they changed since `base`: the form as a whole and each setting. Undefined where both changed one of
 * these and not to the same: then a person decides.
 */
export function mergeDocuments(
  base: FormDocument,
  mine: FormDocument,
  theirs: FormDocument,
): FormDocument | undefined {
  const isTheirs = !isSameJson(base.structure, theirs.structure);
  const isMine = !isSameJson(base.structure, mine.structure);
  const { settings, conflicts } = mergeSettings(base.settings, mine.settings, theirs.settings);
  const isClash = isTheirs && isMine && !isSameJson(mine.structure, theirs.structure);
  if (isClash || conflicts.length > 0) return undefined;
  return { structure: isTheirs ? theirs.structure : mine.structure, settings };
}

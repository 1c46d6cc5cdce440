import { isRecord } from '#ast/json.ts';

/** What a JSON merge patch makes of a value (RFC 7396): null takes a member away, an object goes into an object. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    // Not an assignment: a member may be called __proto__.
    else Object.defineProperty(merged, name, { ...writable, value: mergePatch(merged[name], value) });
  }
  return merged;
}

const writable = { writable: true, enumerable: true, configurable: true } as const;

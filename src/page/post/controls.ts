/** The controls of a page in a post: fields whose names begin with `_`, in order. */
export type Controls = readonly (readonly [name: string, value: string])[];

/** Returns the first value of a control. */
export function controlOf(controls: Controls, name: string): string | undefined {
  return controls.find(([each]) => each === name)?.[1];
}

/**
 * Returns a control's value as a whole number (a step index, a percentage, a time in ms); undefined for
 * anything else.
 */
export function numberOf(controls: Controls, name: string): number | undefined {
  const text = controlOf(controls, name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Returns the marks (such as `0.2`) of the elements that the page showed because of conditions. */
export function getSeenMarks(controls: Controls): Set<string> {
  return new Set(controls.filter(([name]) => name === '_seen').map(([, mark]) => mark));
}

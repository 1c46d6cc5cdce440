/** The controls of a page in a post: fields whose names begin with `_`, in order. */
export type PostedControls = readonly (readonly [name: string, value: string])[];

/** Returns the first value of a control. */
export function getControlValue(controls: PostedControls, name: string): string | undefined {
  return controls.find(([each]) => each === name)?.[1];
}

/**
 * Returns a control's value as a whole number (a step index, a percentage, a time in ms); undefined for
 * anything else.
 */
export function getControlNumber(controls: PostedControls, name: string): number | undefined {
  const text = getControlValue(controls, name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Returns the marks (such as `0.2`) of the elements that the page showed because of conditions. */
export function getSeenMarks(controls: PostedControls): Set<string> {
  return new Set(controls.filter(([name]) => name === '_seen').map(([, mark]) => mark));
}

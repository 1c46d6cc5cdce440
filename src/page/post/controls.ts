/** The controls of a page in a post: names that begin with `_`, in their order. */
export type Controls = readonly (readonly [name: string, value: string])[];

/** The first value of a control. */
export function controlOf(controls: Controls, name: string): string | undefined {
  return controls.find(([each]) => each === name)?.[1];
}

/** A control that is a whole number: the index of a step, a percentage, a time in ms. Undefined for anything else. */
export function numberOf(controls: Controls, name: string): number | undefined {
  const text = controlOf(controls, name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** What conditions had shown on the page. */
export function seenOf(controls: Controls): Set<string> {
  return new Set(controls.filter(([name]) => name === '_seen').map(([, mark]) => mark));
}

/**
 * Moves to the first control that holds what the browser could not read, such as half a date.
 * @returns whether there is one: then what was typed would be lost with whatever is done now.
 */
export function focusUnread(within: ParentNode = document): boolean {
  const controls = [...within.querySelectorAll('input')];
  const unread = controls.find(({ validity }) => validity.badInput);
  unread?.focus();
  return unread !== undefined;
}

/** Sends no form of this page in which something could not be read, whichever it is. */
export function holdUnread(): void {
  document.addEventListener(
    'submit',
    (event) => {
      if (!(event.target instanceof HTMLFormElement) || !focusUnread(event.target)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { capture: true },
  );
}

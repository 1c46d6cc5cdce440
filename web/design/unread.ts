import type { RouterHistory } from '@tanstack/react-router';

const unreadIn = (within: ParentNode): HTMLInputElement | undefined =>
  [...within.querySelectorAll('input')].find(({ validity }) => validity.badInput);

/**
 * Moves the focus to the first control with input that the browser could not read, such as half a date.
 * @returns whether there is one; any other action would lose the input.
 */
export function focusUnread(within: ParentNode = document): boolean {
  const unread = unreadIn(within);
  unread?.focus();
  return unread !== undefined;
}

/**
 * Blocks every form and navigation while a control has unreadable input; the control shows a message. The end
 * of a session still leaves the screen.
 */
export function holdUnread(history: RouterHistory): void {
  history.block({
    blockerFn: ({ currentLocation, nextLocation }) =>
      currentLocation.pathname !== nextLocation.pathname &&
      !nextLocation.pathname.endsWith('/sign-in') &&
      focusUnread(),
    enableBeforeUnload: () => unreadIn(document) !== undefined,
  });
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
